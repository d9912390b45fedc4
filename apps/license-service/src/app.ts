/** Assembles the license service from its configuration, without listening yet. */
import { createPool, type Pool, type PoolConfig } from '@muster/driver';
import {
  createRateLimiter,
  type RateLimiter,
  internal,
  type HealthCheck,
  createService,
  type Loop,
  redisCheck,
  type Service,
  startLoop,
} from '@muster/http';
import { faultOfServerAt } from '@muster/migrations';
import { createSender } from '@muster/outbound/sender';
import { type Logger } from 'pino';
import { addActivationRoutes } from './activation/routes.ts';
import { createLimiter, type Limiter, usualPrefix } from './attempts/limiter.ts';
import { type LicenseServiceConfig } from './config.ts';
import { isSchemaCurrent } from './database.ts';
import { isKey } from './key/key.ts';
import { addPublishedKeys, addSignedAnswers } from './signing/answers.ts';
import { refusalOf } from './api/refusals.ts';
import { addOperatorRoutes, type OperatorsOptions } from './api/routes.ts';
import { addPages, errorPage } from './pages/routes.ts';
import { addTrialRoutes } from './trials/routes.ts';
import { tellOfEndings, forgetDeliveries } from './webhooks/endings.ts';
import { createCourier, type Courier } from './webhooks/courier.ts';
import { forgetSessions } from './operators/sessions.ts';
import { inTransaction } from './operators/transaction.ts';
import { sealingBy } from './operators/webhooks.ts';
import { createVault, productOf, type Vault } from './vault.ts';

export interface LicenseService {
  readonly service: Service;
  /** The part of the courier that sends due webhooks immediately. */
  readonly courier: Pick<Courier, 'send'>;
  /** Migrates the schema and reads the keys. Retries while Postgres is unavailable. */
  readonly start: () => Promise<void>;
  /** Reads the signing keys again immediately instead of within half a minute. */
  readonly refresh: () => Promise<void>;
  /** Closes the database and Redis connections. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

export interface LicenseServiceOptions {
  /** The prefix of the Redis keys; `usualPrefix` by default. */
  readonly prefix?: string;
  /** The database pool for calls of machines. By default the service creates its own pools. */
  readonly pool?: Pool;
  readonly operatorsPool?: Pool;
  /** The polling interval for due webhooks; 1 s by default. Null disables all background work. */
  readonly webhookMillis?: number | null;
}

/** The most concurrent requests per connection of the pool. */
const inFlightPerConnection = 6;
const secondsPerDay = 86_400;
/** The size of the separate pool for operators and webhooks, so that they take no connections from machines. */
const operatorConnections = 4;
const usualWebhookMillis = 1_000;
const endingsMillis = 60_000;

const poolAs = (
  config: LicenseServiceConfig,
  logger: Logger,
  own: Pick<PoolConfig, 'max' | 'role' | 'name'>,
): Pool =>
  createPool({
    url: config.DATABASE_URL,
    ...own,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'a connection to Postgres was lost');
    },
  });

/** Creates the pools for machines and for operators. */
const poolsOf = (config: LicenseServiceConfig, logger: Logger, options: LicenseServiceOptions) => ({
  pool:
    options.pool ??
    poolAs(config, logger, { max: config.DATABASE_POOL, role: 'muster_licenses', name: 'license-service' }),
  operatorsPool:
    options.operatorsPool ??
    poolAs(config, logger, {
      max: operatorConnections,
      role: 'muster_license_operators',
      name: 'license-operators',
    }),
});

const limiterOf = (config: LicenseServiceConfig, logger: Logger, options: LicenseServiceOptions): Limiter =>
  createLimiter({
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
      if (isAway) logger.warn({ err: error }, 'Redis is unavailable; this process counts attempts by itself');
      else logger.info('Redis is available again');
    },
  });

/** Creates the rate limiter of the operators' API and the pages. */
const operatorsLimiterOf = (config: LicenseServiceConfig): RateLimiter =>
  createRateLimiter(
    config.REDIS_URL === undefined
      ? undefined
      : {
          redisUrl: config.REDIS_URL,
          timeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
          onRedis: () => undefined,
        },
  );

/** Builds the readiness checks of the service. */
const checksOf = (config: LicenseServiceConfig, pool: Pool, vault: Vault): HealthCheck[] => [
  {
    name: 'postgres',
    needed: true,
    run: async () =>
      (await isSchemaCurrent(pool)) ? undefined : 'the database schema is out of date; run the migrations',
    faultForGood: () => faultOfServerAt(config.DATABASE_URL),
  },
  {
    name: 'signing',
    needed: true,
    run: async () =>
      productOf(vault.opened())?.keys.signer === undefined ? 'there is no usable signing key' : undefined,
  },
];

/** Starts the background work of the service. Each run does nothing until the secrets could be read. */
function startLoops(
  { operatorsPool, vault, courier, logger }: Working,
  webhookMillis: number,
): readonly Loop[] {
  const loop = (what: string, pauseMs: number, turn: () => Promise<boolean>): Loop =>
    startLoop(
      pauseMs,
      async () => (vault.opened() !== undefined && (await turn()) ? 'more' : 'rest'),
      (error) => {
        logger.warn({ err: error }, `${what} failed and will be retried`);
      },
    );
  return [
    loop('webhooks could not be sent', webhookMillis, async () => {
      await courier.begin();
      return false;
    }),
    loop('expired sessions could not be removed', endingsMillis, () =>
      inTransaction(operatorsPool, forgetSessions),
    ),
    loop('webhooks about expired licenses could not be queued', endingsMillis, async () => {
      const isMore = await inTransaction(operatorsPool, tellOfEndings);
      return (await inTransaction(operatorsPool, forgetDeliveries)) || isMore;
    }),
  ];
}

interface Working {
  readonly operatorsPool: Pool;
  readonly vault: Vault;
  readonly courier: Courier;
  readonly logger: Logger;
}

export function createLicenseService(
  config: LicenseServiceConfig,
  logger: Logger,
  options: LicenseServiceOptions = {},
): LicenseService {
  const { pool, operatorsPool } = poolsOf(config, logger, options);
  const given = {
    pepper: config.LICENSE_PEPPER,
    pepperBefore: config.LICENSE_PEPPER_BEFORE,
    seal: config.LICENSE_SEAL,
  };
  const vault = createVault({ pool, url: config.DATABASE_URL, given, logger });
  const limiter = limiterOf(config, logger, options);
  const redis = config.REDIS_URL === undefined ? undefined : redisCheck(config.REDIS_URL);
  const checks = checksOf(config, pool, vault);
  const service = createService({
    name: 'license-service',
    logger,
    checks: redis === undefined ? checks : [...checks, redis.check],
    mostInFlight: config.DATABASE_POOL * inFlightPerConnection,
    trustProxy: config.TRUST_PROXY ?? false,
    isSecret: isKey,
    toApiError: (error) => refusalOf(error) ?? internal(),
    errorPage,
  });
  service.metrics.pool(pool);
  addSignedAnswers(service.app, vault.opened);
  addPublishedKeys(service.app, vault.opened);
  const machines = { pool, limiter, opened: vault.opened, metrics: service.metrics, logger };
  const certificateSeconds = config.CERTIFICATE_DAYS * secondsPerDay;
  addActivationRoutes(service.app, { ...machines, certificateSeconds });
  addTrialRoutes(service.app, machines);
  const sealing = () => {
    const opened = vault.opened();
    return opened && sealingBy(opened.seals);
  };
  const networks = config.WEBHOOK_NETWORKS;
  const courier = createCourier({ pool: operatorsPool, sealing, networks, logger });
  const operatorsLimiter = operatorsLimiterOf(config);
  const operators: OperatorsOptions = {
    ...{ pool: operatorsPool, limiter: operatorsLimiter, rate: config.LIMIT_OPERATORS, networks, courier },
    ...{ prefix: options.prefix ?? usualPrefix, baseUrl: config.BASE_URL },
    ...{ opened: vault.opened, metrics: service.metrics, logger },
    airGapSeconds: config.AIR_GAP_DAYS * secondsPerDay,
  };
  addOperatorRoutes(service.app, operators);
  const issuerSender = createSender({ networks });
  addPages(service.app, {
    ...{ ...operators, issuer: config.operatorsIssuer, sender: issuerSender },
  });
  let loops: readonly Loop[] = [];

  return {
    service,
    courier,
    start: async () => {
      await vault.start();
      if (options.webhookMillis !== null)
        loops = startLoops(
          { operatorsPool, vault, courier, logger },
          options.webhookMillis ?? usualWebhookMillis,
        );
    },
    refresh: vault.refresh,
    close: async () => {
      await Promise.all(loops.map((one) => one.stop()));
      await courier.close();
      issuerSender.close();
      await operatorsLimiter.close();
      await operatorsPool.end();
      vault.stop();
      limiter.close();
      redis?.close();
      await pool.end();
    },
  };
}
