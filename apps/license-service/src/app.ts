/** Assembles the license service from its configuration, without listening yet. */
import { createPool, type Pool, type PoolConfig } from '@muster/driver';
import {
  createRateLimiter,
  type RateLimiter,
  internalError,
  type HealthCheck,
  createService,
  type Loop,
  createRedisCheck,
  type Service,
  startLoop,
} from '@muster/http';
import { describeServerFaultAt } from '@muster/migrations';
import { createSender } from '@muster/outbound/sender';
import { type Logger } from 'pino';
import { addActivationRoutes } from './activation/routes.ts';
import { createLimiter, type AttemptLimiter, defaultKeyPrefix } from './attempts/limiter.ts';
import { type LicenseServiceConfig } from './config.ts';
import { isSchemaCurrent } from './database.ts';
import { isKey } from './key/key.ts';
import { addPublishedKeysRoute, addSignedAnswers } from './signing/answers.ts';
import { apiErrorOf } from './api/refusals.ts';
import { addOperatorRoutes, type OperatorsOptions } from './api/routes.ts';
import { addPages, errorPage } from './pages/routes.ts';
import { addTrialRoutes } from './trials/routes.ts';
import { recordExpiryEvents, deleteOldDeliveries } from './webhooks/endings.ts';
import { createWebhookDispatcher, type WebhookDispatcher } from './webhooks/courier.ts';
import { deleteExpiredSessions } from './operators/sessions.ts';
import { inTransaction } from './operators/transaction.ts';
import { deleteOldUsageEvents } from './operators/usage.ts';
import { createSecretSealer } from './operators/webhooks.ts';
import { createVault, findLoadedProduct, type Vault } from './vault.ts';

export interface LicenseService {
  readonly service: Service;
  /** The part of the courier that sends due webhooks immediately. */
  readonly courier: Pick<WebhookDispatcher, 'send'>;
  /** Migrates the schema and reads the keys. Retries while Postgres is unavailable. */
  readonly start: () => Promise<void>;
  /** Reads the signing keys again immediately instead of within half a minute. */
  readonly refreshKeys: () => Promise<void>;
  /** Closes the database and Redis connections. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

export interface LicenseServiceOptions {
  /** The prefix of the Redis keys; `defaultKeyPrefix` by default. */
  readonly prefix?: string;
  /** The database pool for calls of machines. By default the service creates its own pools. */
  readonly pool?: Pool;
  readonly operatorsPool?: Pool;
  /** The polling interval for due webhooks; 1 s by default. Null disables all background work. */
  readonly webhookPollMillis?: number | null;
}

/** The most concurrent requests per connection of the pool. */
const maxInFlightPerConnection = 6;
const secondsPerDay = 86_400;
/** The size of the separate pool for operators and webhooks, so that they take no connections from machines. */
const operatorPoolSize = 4;
const defaultWebhookPollMillis = 1_000;
const expiryPollMillis = 60_000;

const createServicePool = (
  config: LicenseServiceConfig,
  logger: Logger,
  poolOptions: Pick<PoolConfig, 'max' | 'role' | 'name'>,
): Pool =>
  createPool({
    url: config.DATABASE_URL,
    ...poolOptions,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'a connection to Postgres was lost');
    },
  });

/** Creates the pools for machines and for operators. */
const createPools = (config: LicenseServiceConfig, logger: Logger, options: LicenseServiceOptions) => ({
  pool:
    options.pool ??
    createServicePool(config, logger, {
      max: config.DATABASE_POOL,
      role: 'muster_licenses',
      name: 'license-service',
    }),
  operatorsPool:
    options.operatorsPool ??
    createServicePool(config, logger, {
      max: operatorPoolSize,
      role: 'muster_license_operators',
      name: 'license-operators',
    }),
});

const createAttemptLimiter = (
  config: LicenseServiceConfig,
  logger: Logger,
  options: LicenseServiceOptions,
): AttemptLimiter =>
  createLimiter({
    limits: {
      ip: config.LIMIT_IP,
      check: config.LIMIT_CHECK,
      usage: config.LIMIT_USAGE,
      ipFail: config.LIMIT_IP_FAIL,
      keyFail: config.LIMIT_KEY_FAIL,
    },
    redisUrl: config.REDIS_URL,
    redisTimeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    onRedisStateChange: (isAway, error) => {
      if (isAway) logger.warn({ err: error }, 'Redis is unavailable; this process counts attempts by itself');
      else logger.info('Redis is available again');
    },
  });

/** Creates the rate limiter of the operators' API and the pages. */
const createOperatorsLimiter = (config: LicenseServiceConfig): RateLimiter =>
  createRateLimiter(
    config.REDIS_URL === undefined
      ? undefined
      : {
          redisUrl: config.REDIS_URL,
          timeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
          onRedisAvailability: () => undefined,
        },
  );

/** Builds the readiness checks of the service. */
const readinessChecksOf = (config: LicenseServiceConfig, pool: Pool, vault: Vault): HealthCheck[] => [
  {
    name: 'postgres',
    needed: true,
    run: async () =>
      (await isSchemaCurrent(pool)) ? undefined : 'the database schema is out of date; run the migrations',
    findPermanentFault: () => describeServerFaultAt(config.DATABASE_URL),
  },
  {
    name: 'signing',
    needed: true,
    run: async () =>
      findLoadedProduct(vault.currentVault())?.keys.signer === undefined
        ? 'there is no usable signing key'
        : undefined,
  },
];

/** Starts the background work of the service. Each run does nothing until the secrets could be read. */
function startBackgroundLoops(
  { operatorsPool, vault, courier, logger }: BackgroundDependencies,
  webhookMillis: number,
): readonly Loop[] {
  const loop = (what: string, pauseMs: number, turn: () => Promise<boolean>): Loop =>
    startLoop(
      pauseMs,
      async () => (vault.currentVault() !== undefined && (await turn()) ? 'more' : 'rest'),
      (error) => {
        logger.warn({ err: error }, `${what} failed and will be retried`);
      },
    );
  return [
    loop('webhooks could not be sent', webhookMillis, async () => {
      await courier.startDueDeliveries();
      return false;
    }),
    loop('expired sessions could not be removed', expiryPollMillis, () =>
      inTransaction(operatorsPool, deleteExpiredSessions),
    ),
    loop('webhooks about expired licenses could not be queued', expiryPollMillis, async () => {
      const isMore = await inTransaction(operatorsPool, recordExpiryEvents);
      return (await inTransaction(operatorsPool, deleteOldDeliveries)) || isMore;
    }),
    loop('ids of old usage events could not be removed', expiryPollMillis, () =>
      inTransaction(operatorsPool, deleteOldUsageEvents),
    ),
  ];
}

interface BackgroundDependencies {
  readonly operatorsPool: Pool;
  readonly vault: Vault;
  readonly courier: WebhookDispatcher;
  readonly logger: Logger;
}

export function createLicenseService(
  config: LicenseServiceConfig,
  logger: Logger,
  options: LicenseServiceOptions = {},
): LicenseService {
  const { pool, operatorsPool } = createPools(config, logger, options);
  const given = {
    pepper: config.LICENSE_PEPPER,
    pepperBefore: config.LICENSE_PEPPER_BEFORE,
    seal: config.LICENSE_SEAL,
  };
  const vault = createVault({ pool, url: config.DATABASE_URL, environmentSecrets: given, logger });
  const limiter = createAttemptLimiter(config, logger, options);
  const redis = config.REDIS_URL === undefined ? undefined : createRedisCheck(config.REDIS_URL);
  const checks = readinessChecksOf(config, pool, vault);
  const service = createService({
    name: 'license-service',
    logger,
    checks: redis === undefined ? checks : [...checks, redis.check],
    maxInFlight: config.DATABASE_POOL * maxInFlightPerConnection,
    trustProxy: config.TRUST_PROXY ?? false,
    containsSecret: isKey,
    toApiError: (error) => apiErrorOf(error) ?? internalError(),
    renderErrorPage: errorPage,
  });
  service.metrics.addPoolGauges(pool);
  addSignedAnswers(service.app, vault.currentVault);
  addPublishedKeysRoute(service.app, vault.currentVault);
  const machines = { pool, limiter, opened: vault.currentVault, metrics: service.metrics, logger };
  const certificateSeconds = config.CERTIFICATE_DAYS * secondsPerDay;
  addActivationRoutes(service.app, { ...machines, certificateSeconds });
  addTrialRoutes(service.app, machines);
  const sealing = () => {
    const opened = vault.currentVault();
    return opened && createSecretSealer(opened.seals);
  };
  const networks = config.WEBHOOK_NETWORKS;
  const courier = createWebhookDispatcher({ pool: operatorsPool, sealing, networks, logger });
  const operatorsLimiter = createOperatorsLimiter(config);
  const operators: OperatorsOptions = {
    ...{ pool: operatorsPool, limiter: operatorsLimiter, rate: config.LIMIT_OPERATORS, networks, courier },
    ...{ prefix: options.prefix ?? defaultKeyPrefix, baseUrl: config.BASE_URL },
    ...{ opened: vault.currentVault, metrics: service.metrics, logger },
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
      if (options.webhookPollMillis !== null)
        loops = startBackgroundLoops(
          { operatorsPool, vault, courier, logger },
          options.webhookPollMillis ?? defaultWebhookPollMillis,
        );
    },
    refreshKeys: vault.reload,
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
