/** The periodic tasks of this process. */
import { type Pool } from '@muster/driver';
import { type After, type Loop, startLoop } from '@muster/http';
import { allNodes, type Node } from '@muster/placement';
import { type Queues, silentQueues, type RunningWorker } from '@muster/redis/queues';
import { type Logger } from 'pino';
import { type CountTotal } from './counters.ts';
import { type DeadRow, relay } from './relay.ts';
import { schedule } from './schedule.ts';
import { longestPauseMillis, sweep } from './sweep.ts';
import { type Runner } from './webhooks/runner.ts';

export interface LoopsSetUp {
  readonly pool: Pool;
  readonly queues: Queues;
  readonly sending: Pick<Runner, 'look'>;
  readonly count: CountTotal;
  readonly logger: Logger;
  /** Called with the queues in which jobs wait while this process runs none of them. */
  readonly onSilence: (queues: readonly string[]) => void;
}

export interface Loops {
  /**
   * Starts the tasks that need only Postgres: it looks for due webhooks, and sweeps leases while Redis is
   * unavailable.
   */
  readonly beginAlone: () => void;
  /** Starts the relay, the schedule, and the check that workers still take jobs. */
  readonly beginWithQueues: (working: readonly RunningWorker[]) => void;
  /** Starts no further turn of any loop, and waits for the running turns. */
  readonly stop: () => Promise<void>;
}

const relayPauseMillis = 250;
const webhooksPauseMillis = 250;
const schedulePauseMillis = 30_000;
const watchPauseMillis = 10_000;

const isReachable = (queues: Pick<Queues, 'waiting'>): Promise<boolean> =>
  queues.waiting().then(
    () => true,
    () => false,
  );

export function createLoops({ pool, queues, sending, count, logger, onSilence }: LoopsSetUp): Loops {
  const begun: Loop[] = [];
  /** False until Redis was first reached: a call before that would block. */
  let hasQueues = false;
  const begin = (what: string, pauseMillis: number, turn: () => Promise<After>): void => {
    const tell = (error: unknown): void => {
      logger.warn({ err: error }, `${what} is failing at the moment`);
    };
    begun.push(startLoop(pauseMillis, turn, tell));
  };
  /** Returns the database server's name for use in messages, or an empty text if there is only one server. */
  const of = ({ name }: Node): string => (allNodes(pool).length > 1 ? ` of ${name}` : '');

  return {
    beginAlone: () => {
      for (const at of allNodes(pool)) {
        // While Redis is available, the queue `leases` sweeps the leases. This loop is the fallback.
        begin(`the sweep of leases${of(at)}`, longestPauseMillis, async () => {
          if (hasQueues && (await isReachable(queues))) return 'rest';
          return sweep(at.pool, (noted) => {
            count('expiredLeases', noted);
          });
        });
        begin(`the check for due webhooks${of(at)}`, webhooksPauseMillis, () => sending.look(at.pool));
      }
    },
    beginWithQueues: (working) => {
      hasQueues = true;
      const onDead = (row: DeadRow): void => {
        logger.error(row, 'a job is dead and will not be retried; see muster outbox list');
      };
      for (const at of allNodes(pool))
        begin(`the relay${of(at)}`, relayPauseMillis, () => relay({ pool: at.pool, queues, onDead }));
      begin('the schedule', schedulePauseMillis, async () => {
        await queues.keepSchedule(schedule);
        return 'rest';
      });
      begin('the watch', watchPauseMillis, async () => {
        const silent = await silentQueues(working, queues);
        if (silent.length > 0) onSilence(silent);
        return 'rest';
      });
    },
    stop: async () => {
      await Promise.all(begun.map((one) => one.stop()));
    },
  };
}
