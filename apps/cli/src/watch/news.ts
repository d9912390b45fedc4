/**
 * Decides when to refresh: soon after an event, rarely otherwise, and often if the event stream is
 * unavailable.
 */
import { followStream, UnauthorizedError } from '@muster/client';
import { eventKinds } from '@muster/contract';
import { type CommandConnection } from '../session/connection.ts';

/**
 * The events that change the visible work, its holders or the caller's access. Renewals, heartbeats and
 * progress are not events; periodic refreshes show them.
 */
const visibleEventPattern = /^(?:run|execution|lock|lease|project|member|team|access|group|org)\./;
const watchedEventKinds = eventKinds.filter((kind) => visibleEventPattern.test(kind));

/** The polling interval while the event stream is connected. */
const connectedPollMillis = 10_000;

export interface ChangeFeed {
  /**
   * Resolves when it is time to refresh, at the earliest `intervalSeconds` after the last refresh. Resolves
   * immediately when the command ends.
   */
  readonly nextRefresh: () => Promise<void>;
  /** Rejects with an error that ends the stream for good, such as a revoked token. Never resolves. */
  readonly streamFailure: Promise<never>;
}

export function openChangeFeed(
  connection: CommandConnection,
  projectId: string | undefined,
  intervalSeconds: number,
  signal: AbortSignal,
): ChangeFeed {
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
      kinds: watchedEventKinds,
      signal,
      personal: false,
      forSeconds: Infinity,
      reopensWhenReplaced: true,
      ...(projectId !== undefined && { projectId }),
      // Events between the last refresh and the connection may be missing.
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
        // The token of the open stream expired. Open the stream once more, because the token may have been
        // renewed. A second rejection is final.
        if (!(error instanceof UnauthorizedError) || !isOpen) throw error;
        isOpen = false;
      }
    }
    return new Promise<never>(() => undefined);
  };
  let timer: NodeJS.Timeout | undefined;
  // Do not keep the process alive for this timer.
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
    nextRefresh: async () => {
      const interval = intervalSeconds * 1_000;
      while (!signal.aborted) {
        const since = performance.now() - lookedAt;
        const least = isLive && !isFresh ? Math.max(connectedPollMillis, interval) : interval;
        if (since >= least) break;
        await untilTold(least - since);
      }
      [isFresh, lookedAt] = [false, performance.now()];
    },
    streamFailure: follow(),
  };
}
