/** Assembles delivery-worker from its configuration, without starting anything yet. */
import { setTimeout as pause } from 'node:timers/promises';
import { openFileStorage } from '@muster/attachments';
import { nodeHealthChecks, openNodes, type OpenNodes } from '@muster/placement';
import { awaitRedis, openQueues, type Queues, type RunningWorker } from '@muster/redis/queues';
import { toWebhooksConfig } from '@muster/notifications';
import { createAuthenticator, toApiError } from '@muster/runtime';
import { createService, createRedisCheck, type Service } from '@muster/http';
import { type Logger } from 'pino';
import { type WorkerConfig } from './config.ts';
import { addCounters } from './counters.ts';
import { addDashboard } from './dashboard.ts';
import { addFigures } from './figures.ts';
import { createJobRecorder, startJobWorkers } from './jobs.ts';
import { createLoops } from './loops.ts';
import { createOutboundClients } from './outbound.ts';
import { createJobPerformer } from './perform.ts';
import { createReplyService } from './replies/service.ts';
import { createLoggedWebhookRunner } from './webhooks/sending.ts';
import { createWorkers, environment } from './workers.ts';

export interface DeliveryWorker {
  readonly service: Service;
  /**
   * Starts sending webhooks, and sweeping leases while Redis is unavailable. Waits for Redis, then relays and
   * runs jobs until `stop`. Throws if this Redis may evict queued jobs.
   */
  readonly start: () => Promise<void>;
  /** Finishes the running jobs, or leaves them to be dispatched again. */
  readonly stop: () => Promise<void>;
}

export interface DeliveryWorkerOptions {
  /** Prefix of the keys in Redis, if it is not the default. */
  readonly prefix?: string;
  /**
   * Called when jobs are waiting but this process runs none of them. Something in it has stopped, and only a
   * restart helps.
   */
  readonly onStalledQueues: (queues: readonly string[]) => void;
}

/** Grace periods whose sum is below the shutdown timeout of the process. */
const loopStopGraceMillis = 1_000;
const jobStopGraceMillis = 15_000;

const openDatabase = (config: WorkerConfig, logger: Logger): OpenNodes =>
  openNodes(
    {
      ...{ url: config.DATABASE_URL, max: config.DATABASE_POOL, role: 'muster_app', name: 'delivery-worker' },
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    },
    config.DATABASE_NODES,
  );

export function createDeliveryWorker(
  config: WorkerConfig,
  logger: Logger,
  { prefix, onStalledQueues }: DeliveryWorkerOptions,
): DeliveryWorker {
  const nodes = openDatabase(config, logger);
  const { pool } = nodes;
  // The health check reports that Redis is unavailable, so failed attempts are only logged at debug level.
  const onError = (error: Error): void => {
    logger.debug({ err: error }, 'Redis');
  };
  const address = { url: config.REDIS_URL, prefix, onError };
  const queues: Queues = openQueues(address);
  const authenticator = createAuthenticator(pool);
  const redis = createRedisCheck(config.REDIS_URL);
  const webhooks = toWebhooksConfig(config);
  const outbound = createOutboundClients(config, webhooks, logger);
  const files = openFileStorage(config, pool);
  const service = createService({
    ...{ name: 'delivery-worker', logger, maxInFlight: 20, trustProxy: false, toApiError },
    checks: [
      ...nodeHealthChecks(nodes, config.DATABASE_URL, config.DATABASE_NODES),
      redis.check,
      ...files.checks,
    ],
  });
  service.metrics.addPoolGauges(nodes.connectionCounts);
  const count = addCounters(service.metrics);
  const sending = createLoggedWebhookRunner(pool, webhooks, count, logger);
  addFigures(service.metrics, pool, queues);
  addDashboard(service.app, queues, authenticator);

  const replies = createReplyService(config, { pool, environment, logger });
  const workers = createWorkers({
    ...{ ...outbound, pool, queues, incrementCounter: count, logger, webhooks, storage: files.storage },
    ...{ seals: webhooks.seals, replyAddresses: replies.addresses },
    ...{ baseUrl: config.BASE_URL, messageRate: config.LIMIT_MESSAGES, retentionDays: config.RETENTION_DAYS },
    ...{ digestHourUtc: config.DIGEST_HOUR_UTC, secretsKeys: config.SECRETS_KEY },
    onRowsRemoved: (rows) => {
      count('removedRows', rows);
    },
  });
  const jobs = {
    ...address,
    run: createJobPerformer(pool, workers),
    onEnd: createJobRecorder(service.metrics, logger),
  };
  const loops = createLoops({ pool, queues, webhookRunner: sending, count, logger, onStalledQueues });
  const stopping = new AbortController();
  let working: RunningWorker[] = [];

  return {
    service,
    start: async () => {
      loops.startWithoutQueues();
      await replies.start();
      try {
        await awaitRedis(config.REDIS_URL, onError, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        throw error;
      }
      if (stopping.signal.aborted) return;
      working = startJobWorkers(jobs);
      loops.startWithQueues(working);
    },
    stop: async () => {
      stopping.abort();
      const lastSent = Promise.all([sending.stop(), replies.stop()]);
      const loopsStopped = loops.stop();
      await Promise.race([loopsStopped, pause(loopStopGraceMillis, undefined, { ref: false })]);
      // A queue that waits for an unavailable Redis stops waiting when it is closed; the relay then stops
      // too.
      await queues.close();
      await loopsStopped;
      await lastSent;
      await Promise.all(working.map((one) => one.close(jobStopGraceMillis)));
      redis.close();
      outbound.close();
      await authenticator.close();
      await nodes.close();
    },
  };
}
