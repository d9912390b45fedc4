/** The periodic tasks of this process. */
import { type Pool } from '@muster/driver';
import { type NextTurn, type Loop, startLoop } from '@muster/http';
import { allNodes, type Node } from '@muster/placement';
import { type Queues, findSilentQueues, type RunningWorker } from '@muster/redis/queues';
import { type Logger } from 'pino';
import { type IncrementCounter } from './counters.ts';
import { type DeadRow, runRelayTurn } from './relay.ts';
import { jobIntervalsSeconds } from './schedule.ts';
import { maxSweepDelayMillis, sweepExpiredLeases } from './sweep.ts';
import { type WebhookRunner } from './webhooks/runner.ts';

export interface LoopsSetUp {
  readonly pool: Pool;
  readonly queues: Queues;
  readonly webhookRunner: Pick<WebhookRunner, 'look'>;
  readonly count: IncrementCounter;
  readonly logger: Logger;
  /** Called with the queues in which jobs wait while this process runs none of them. */
  readonly onStalledQueues: (queues: readonly string[]) => void;
}

export interface Loops {
  /**
   * Starts the tasks that need only Postgres: it looks for due webhooks, and sweeps leases while the queue
   * does not.
   */
  readonly startWithoutQueues: () => void;
  /** Starts the relay, the schedule, and the check that workers still take jobs. */
  readonly startWithQueues: (working: readonly RunningWorker[]) => void;
  /** Starts no further turn of any loop, and waits for the running turns. */
  readonly stop: () => Promise<void>;
}

const relayIntervalMillis = 250;
const webhookCheckIntervalMillis = 250;
const scheduleIntervalMillis = 30_000;
const stallCheckIntervalMillis = 10_000;

/** Returns true if the queue `leases` sweeps the leases. */
const isSweptByQueue = (queues: Pick<Queues, 'isOnSchedule'>): Promise<boolean> =>
  queues.isOnSchedule('leases.sweep').catch(() => false);

export function createLoops({
  pool,
  queues,
  webhookRunner,
  count,
  logger,
  onStalledQueues,
}: LoopsSetUp): Loops {
  const begun: Loop[] = [];
  /** False until Redis was first reached: a call before that would block. */
  let hasQueues = false;
  const begin = (what: string, pauseMillis: number, turn: () => Promise<NextTurn>): void => {
    const tell = (error: unknown): void => {
      logger.warn({ err: error }, `${what} is failing at the moment`);
    };
    begun.push(startLoop(pauseMillis, turn, tell));
  };
  /** Adds the name of the database server to a loop's name, unless there is only one server. */
  const nameOnNode = (loopName: string, { name }: Node): string =>
    allNodes(pool).length > 1 ? `${loopName} of ${name}` : loopName;

  return {
    startWithoutQueues: () => {
      for (const at of allNodes(pool)) {
        // This loop is the fallback while Redis is unavailable, or has lost the schedule.
        begin(nameOnNode('the sweep of leases', at), maxSweepDelayMillis, async () => {
          if (hasQueues && (await isSweptByQueue(queues))) return 'rest';
          return sweepExpiredLeases(at.pool, (noted) => {
            count('expiredLeases', noted);
          });
        });
        begin(nameOnNode('the check for due webhooks', at), webhookCheckIntervalMillis, () =>
          webhookRunner.look(at.pool),
        );
      }
    },
    startWithQueues: (working) => {
      hasQueues = true;
      const onDead = (row: DeadRow): void => {
        logger.error(row, 'a job is dead and will not be retried; see muster outbox list');
      };
      for (const at of allNodes(pool))
        begin(nameOnNode('the relay', at), relayIntervalMillis, () =>
          runRelayTurn({ pool: at.pool, queues, onDead }),
        );
      begin('the schedule', scheduleIntervalMillis, async () => {
        await queues.ensureSchedule(jobIntervalsSeconds);
        return 'rest';
      });
      begin('the watch', stallCheckIntervalMillis, async () => {
        const silent = await findSilentQueues(working, queues);
        if (silent.length > 0) onStalledQueues(silent);
        return 'rest';
      });
    },
    stop: async () => {
      await Promise.all(begun.map((one) => one.stop()));
    },
  };
}
