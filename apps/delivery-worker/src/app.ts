/** delivery-worker, put together from its configuration; nothing runs yet. */
import { setTimeout as pause } from 'node:timers/promises';
import { everyNode, type Node, nodeChecks, openNodes } from '@muster/database';
import { awaitRedis, openQueues, type Queues, silentQueues, type Working } from '@muster/queue';
import { webhooksSetUpOf } from '@muster/notifications';
import { reactions } from '@muster/operations';
import { createAuthenticator, toApiError } from '@muster/runtime';
import { createService, redisCheck, type Service } from '@muster/http';
import { type Logger } from 'pino';
import { type Config } from './config.ts';
import { createAskForge } from './ask-forge.ts';
import { addCounters } from './counters.ts';
import { addDashboard } from './dashboard.ts';
import { addFigures } from './figures.ts';
import { createJournal, takeJobs } from './jobs.ts';
import { type After, type Loop, startLoop } from './loop.ts';
import { createMailer } from '@muster/outbound/mail';
import { performer } from './perform.ts';
import { createPusher } from './push.ts';
import { type DeadRow, relay } from './relay.ts';
import { schedule } from './schedule.ts';
import { longestPauseMillis, sweep } from './sweep.ts';
import { createSender } from '@muster/outbound/sender';
import { createRunner, outcomeOf } from './webhooks/runner.ts';
import { createWorkers } from './workers.ts';

export interface DeliveryWorker {
  readonly service: Service;
  /**
   * Sweeps leases and sends webhooks from now on; waits for Redis, then relays and works as well, until `stop`. Throws where this Redis may
   * evict what is queued.
   */
  readonly start: () => Promise<void>;
  /** Ends what runs, or leaves it to be dispatched again. */
  readonly stop: () => Promise<void>;
}

export interface DeliveryWorkerOptions {
  /** Of the keys in Redis; the usual one unless told. */
  readonly prefix?: string;
  /** Work waits and this process does none of it: something in it has stopped, and only a new one helps. */
  readonly onSilence: (queues: readonly string[]) => void;
}

const relayPauseMillis = 250;
const webhooksPauseMillis = 250;
const schedulePauseMillis = 30_000;
const watchPauseMillis = 10_000;
/** These together are less than the process gives itself. */
const turnGraceMillis = 1_000;
const closeGraceMillis = 15_000;

export function createDeliveryWorker(
  config: Config,
  logger: Logger,
  { prefix, onSilence }: DeliveryWorkerOptions,
): DeliveryWorker {
  const { DATABASE_URL: url, DATABASE_NODES: addresses } = config;
  const nodes = openNodes(
    {
      ...{ url, max: config.DATABASE_POOL, role: 'muster_app', name: 'delivery-worker' },
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    },
    addresses,
  );
  const { pool } = nodes;
  // Health says that Redis is away; each attempt to reach it need not be a line.
  const onError = (error: Error): void => {
    logger.debug({ err: error }, 'Redis');
  };
  const address = { url: config.REDIS_URL, prefix, onError };
  const queues: Queues = openQueues(address);
  const authenticator = createAuthenticator(pool);
  const redis = redisCheck(config.REDIS_URL);
  const mailer = createMailer(config.mailTo, config.MAIL_FROM, logger);
  const pusher = config.vapid && createPusher({ vapid: config.vapid, hosts: config.PUSH_HOSTS, logger });
  const service = createService({
    name: 'delivery-worker',
    logger,
    checks: [...nodeChecks(nodes, url, addresses), redis.check],
    mostInFlight: 20,
    trustProxy: false,
    toApiError,
  });
  service.metrics.pool(nodes.levels);
  const count = addCounters(service.metrics);
  const webhooks = webhooksSetUpOf(config);
  const forgeSender = createSender({ networks: webhooks.networks });
  const issuerSender = createSender({ networks: webhooks.networks });
  const sending = createRunner({
    pool,
    sender: createSender({ networks: webhooks.networks }),
    setUp: { ...webhooks, reactions },
    onTried: (orgId, webhookId, sent) => {
      const outcome = outcomeOf(sent);
      count(outcome);
      const { status, ms, error } = sent.tried;
      logger.info({ orgId, webhookId, outcome, status, durationMs: ms, error }, 'webhook');
    },
    onFault: (error, webhookId) => {
      logger.warn({ err: error, webhookId }, 'a webhook is sent later');
    },
  });
  addFigures(service.metrics, pool, queues);
  addDashboard(service.app, queues, authenticator);

  const run = performer(
    pool,
    createWorkers({
      pool,
      logger,
      mailer,
      pusher,
      baseUrl: config.BASE_URL,
      retentionDays: config.RETENTION_DAYS,
      askForge: createAskForge(forgeSender),
      issuers: { sender: issuerSender, seals: webhooks.seals, dnsServers: config.DNS_SERVERS },
      webhooks,
      removed: (_table, rows) => {
        count('removedRows', rows);
      },
    }),
  );
  const onEnd = createJournal(service.metrics, logger);
  const stopping = new AbortController();
  const loops: Loop[] = [];
  let working: Working[] = [];

  /** Of which server, where there are several. */
  const of = ({ name }: Node): string => (everyNode(pool).length > 1 ? ` of ${name}` : '');
  const loop = (what: string, pauseMillis: number, turn: () => Promise<After>): void => {
    const tell = (error: unknown): void => {
      logger.warn({ err: error }, `${what} does not work at the moment`);
    };
    loops.push(startLoop(pauseMillis, turn, tell));
  };
  const begin = (): void => {
    working = takeJobs({ ...address, run, onEnd });
    const onDead = (row: DeadRow): void => {
      logger.error(row, 'a job was given up: muster outbox list');
    };
    for (const at of everyNode(pool))
      loop(`the relay${of(at)}`, relayPauseMillis, () => relay({ pool: at.pool, queues, onDead }));
    loop('the schedule', schedulePauseMillis, async () => {
      await queues.keepSchedule(schedule);
      return 'rest';
    });
    loop('the watch', watchPauseMillis, async () => {
      const silent = await silentQueues(working, queues);
      if (silent.length > 0) onSilence(silent);
      return 'rest';
    });
  };

  return {
    service,
    start: async () => {
      for (const at of everyNode(pool)) {
        loop(`the sweep of leases${of(at)}`, longestPauseMillis, () =>
          sweep(at.pool, (noted) => {
            count('expiredLeases', noted);
          }),
        );
        loop(`the look for webhooks${of(at)}`, webhooksPauseMillis, () => sending.look(at.pool));
      }
      try {
        await awaitRedis(config.REDIS_URL, onError, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        throw error;
      }
      if (!stopping.signal.aborted) begin();
    },
    stop: async () => {
      stopping.abort();
      const lastSent = sending.stop();
      const loopsStopped = Promise.all(loops.map((one) => one.stop()));
      await Promise.race([loopsStopped, pause(turnGraceMillis, undefined, { ref: false })]);
      // A queue that waits for a Redis that is away lets go when it is closed, and with it the relay.
      await queues.close();
      await loopsStopped;
      await lastSent;
      await Promise.all(working.map((one) => one.close(closeGraceMillis)));
      redis.close();
      forgeSender.close();
      issuerSender.close();
      mailer.close();
      await authenticator.close();
      await nodes.close();
    },
  };
}
