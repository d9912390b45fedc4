/** What this process does again and again, until it stops. */
import { type Pool } from '@muster/driver';
import { type After, type Loop, startLoop } from '@muster/http';
import { allNodes, type Node } from '@muster/placement';
import { type Queues, silentQueues, type Working } from '@muster/redis/queues';
import { type Logger } from 'pino';
import { type Count } from './counters.ts';
import { type DeadRow, relay } from './relay.ts';
import { schedule } from './schedule.ts';
import { longestPauseMillis, sweep } from './sweep.ts';
import { type Runner } from './webhooks/runner.ts';

export interface LoopsSetUp {
  readonly pool: Pool;
  readonly queues: Queues;
  readonly sending: Pick<Runner, 'look'>;
  readonly count: Count;
  readonly logger: Logger;
  /** Told of queues in which work waits while this process does none of it. */
  readonly onSilence: (queues: readonly string[]) => void;
}

export interface Loops {
  /** Looks for webhooks, and sweeps leases while Redis is away, from Postgres alone. */
  readonly beginAlone: () => void;
  /** Relays, keeps the schedule, and watches those that take jobs. */
  readonly beginWithQueues: (working: readonly Working[]) => void;
  /** Waits for the turns that run. */
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
  /** False until Redis was reached once: a call before that would wait for it. */
  let hasQueues = false;
  const begin = (what: string, pauseMillis: number, turn: () => Promise<After>): void => {
    const tell = (error: unknown): void => {
      logger.warn({ err: error }, `${what} does not work at the moment`);
    };
    begun.push(startLoop(pauseMillis, turn, tell));
  };
  /** Of which server, where there are several. */
  const of = ({ name }: Node): string => (allNodes(pool).length > 1 ? ` of ${name}` : '');

  return {
    beginAlone: () => {
      for (const at of allNodes(pool)) {
        // The queue `leases` does this while Redis is there; without it nothing but this loop can.
        begin(`the sweep of leases${of(at)}`, longestPauseMillis, async () => {
          if (hasQueues && (await isReachable(queues))) return 'rest';
          return sweep(at.pool, (noted) => {
            count('expiredLeases', noted);
          });
        });
        begin(`the look for webhooks${of(at)}`, webhooksPauseMillis, () => sending.look(at.pool));
      }
    },
    beginWithQueues: (working) => {
      hasQueues = true;
      const onDead = (row: DeadRow): void => {
        logger.error(row, 'a job was given up: muster outbox list');
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
