/** When to look again: soon after something was written, seldom else, and often where the stream cannot be had. */
import { followStream, UnauthorizedError } from '@muster/client';
import { eventKinds } from '@muster/registry';
import { type Connection } from '../session/connection.ts';

/**
 * What changes who is at work, what they hold, or what of it may be seen. Renewals, heartbeats and a run's progress are
 * no events: they are met by looking every few seconds.
 */
const shown = /^(?:run|execution|lock|lease|project|member|team|access|group|org)\./;
const kinds = eventKinds.filter((kind) => shown.test(kind));

/** How seldom it is looked where the stream says when. */
const seldomMillis = 10_000;

export interface News {
  /** Resolves when it is time to look again, at the earliest `intervalSeconds` after it last did; at once when all is over. */
  readonly next: () => Promise<void>;
  /** Rejects with what ends the stream for good, such as a token that was revoked; never resolves. */
  readonly failed: Promise<never>;
}

export function openNews(
  connection: Connection,
  projectId: string | undefined,
  intervalSeconds: number,
  signal: AbortSignal,
): News {
  let isFresh = false;
  let isLive = false;
  let lookedAt = performance.now();
  let wake = (): void => undefined;
  const tell = (live: boolean, fresh: boolean): void => {
    isLive = live;
    isFresh ||= fresh;
    wake();
  };
  let isOpen = false;
  const streamed = () =>
    followStream({
      ...connection,
      ...{ kinds, signal, personal: false, forSeconds: Infinity, reopensReplaced: true },
      ...(projectId !== undefined && { projectId }),
      // What was written between the last look and now may be missing.
      onOpen: () => {
        isOpen = true;
        tell(true, true);
      },
      onRetry: () => tell(false, false),
    });
  const follow = async (): Promise<never> => {
    while (!signal.aborted) {
      try {
        for await (const _ of streamed()) tell(true, true);
      } catch (error) {
        // The token that it was opened with ended. Where there is no next one it does not open again.
        if (!(error instanceof UnauthorizedError) || !isOpen) throw error;
        isOpen = false;
      }
    }
    return new Promise<never>(() => undefined);
  };
  let timer: NodeJS.Timeout | undefined;
  // What nothing waits for any more keeps no process.
  signal.addEventListener('abort', () => clearTimeout(timer));
  const untilTold = (millis: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      timer = setTimeout(resolve, millis);
    });

  return {
    next: async () => {
      const interval = intervalSeconds * 1_000;
      while (!signal.aborted) {
        const since = performance.now() - lookedAt;
        const least = isLive && !isFresh ? Math.max(seldomMillis, interval) : interval;
        if (since >= least) break;
        await untilTold(least - since);
      }
      [isFresh, lookedAt] = [false, performance.now()];
    },
    failed: follow(),
  };
}
