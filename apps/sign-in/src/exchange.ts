/** Synchronizes accounts between the primary server and the other database servers, in both directions. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Pool } from '@muster/driver';
import { exchangeCopies, hasOtherNodes } from '@muster/placement';
import { type Logger } from 'pino';

const exchangeIntervalMillis = 250;

export interface AccountExchange {
  readonly stop: () => Promise<void>;
}

/** Starts the synchronization. If it fails several times in a row, only the first failure is logged. */
export function startAccountExchange(pool: Pool, logger: Logger): AccountExchange {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    let isFailing = false;
    while (hasOtherNodes(pool) && !stopping.signal.aborted) {
      try {
        await exchangeCopies(pool);
        isFailing = false;
      } catch (error) {
        if (!isFailing) logger.warn({ err: error }, 'copies of accounts reach a server later');
        isFailing = true;
      }
      await pause(exchangeIntervalMillis, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
