/** license-service, put together from its configuration; nothing listens yet. */
import { createPool, DatabaseAway, DatabaseBusy, type Pool } from '@muster/database';
import {
  ApiError,
  internal,
  type Check,
  createService,
  redisCheck,
  type Service,
  unavailable,
} from '@muster/http';
import { type Logger } from 'pino';
import { addActivationRoutes } from './activation/routes.ts';
import { createLimiter } from './attempts/limiter.ts';
import { type Config } from './config.ts';
import { isSchemaCurrent } from './database.ts';
import { addPublishedKeys, addSignedAnswers } from './signing/answers.ts';
import { createVault } from './vault.ts';

export interface LicenseService {
  readonly service: Service;
  /** Brings the schema up to date and reads the keys; where Postgres is away it goes on trying. */
  readonly start: () => Promise<void>;
  /** Reads the signing keys again at once, instead of within half a minute. */
  readonly refresh: () => Promise<void>;
  /** After the service stopped: the connections. */
  readonly close: () => Promise<void>;
}

export interface LicenseServiceOptions {
  /** Of the keys in Redis; the usual one unless told. */
  readonly prefix?: string;
  /** Connections to Postgres; its own unless told. */
  readonly pool?: Pool;
}

/** Requests answered at once, per connection of the pool. */
const inFlightPerConnection = 6;
const secondsPerDay = 86_400;

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseBusy)
    return unavailable('overload', 'All connections to the database are taken; try again.');
  if (error instanceof DatabaseAway) return unavailable('database');
  return internal();
}

export function createLicenseService(
  config: Config,
  logger: Logger,
  options: LicenseServiceOptions = {},
): LicenseService {
  const pool =
    options.pool ??
    createPool({
      url: config.DATABASE_URL,
      max: config.DATABASE_POOL,
      role: 'muster_licenses',
      name: 'license-service',
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    });
  const given = {
    pepper: config.LICENSE_PEPPER,
    pepperBefore: config.LICENSE_PEPPER_BEFORE,
    seal: config.LICENSE_SEAL,
  };
  const vault = createVault({ pool, url: config.DATABASE_URL, given, logger });
  const keys = () => vault.opened()?.keys;
  const limiter = createLimiter({
    limits: {
      ip: config.LIMIT_IP,
      check: config.LIMIT_CHECK,
      ipFail: config.LIMIT_IP_FAIL,
      keyFail: config.LIMIT_KEY_FAIL,
    },
    redisUrl: config.REDIS_URL,
    timeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    onRedis: (isAway, error) => {
      if (isAway) logger.warn({ err: error }, 'Redis is away; attempts are counted in this process');
      else logger.info('Redis is back');
    },
  });

  const checks: Check[] = [
    {
      name: 'postgres',
      needed: true,
      run: async () => ((await isSchemaCurrent(pool)) ? undefined : 'the schema is not current'),
    },
    {
      name: 'signing',
      needed: true,
      run: async () => (keys()?.signer === undefined ? 'there is no key to sign with' : undefined),
    },
  ];
  const redis = config.REDIS_URL === undefined ? undefined : redisCheck(config.REDIS_URL);
  const service = createService({
    name: 'license-service',
    logger,
    checks: redis === undefined ? checks : [...checks, redis.check],
    mostInFlight: config.DATABASE_POOL * inFlightPerConnection,
    trustProxy: config.TRUST_PROXY ?? false,
    toApiError,
  });
  service.metrics.pool(pool);
  addSignedAnswers(service.app, keys);
  addPublishedKeys(service.app, keys);
  addActivationRoutes(service.app, {
    pool,
    limiter,
    opened: vault.opened,
    certificateSeconds: config.CERTIFICATE_DAYS * secondsPerDay,
    metrics: service.metrics,
    logger,
  });

  return {
    service,
    start: vault.start,
    refresh: vault.refresh,
    close: async () => {
      vault.stop();
      limiter.close();
      redis?.close();
      await pool.end();
    },
  };
}
