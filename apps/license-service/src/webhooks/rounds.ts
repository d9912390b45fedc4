/** Work that comes again and again while the service runs; what fails is said, and comes again. */
import { type Logger } from 'pino';

export interface Rounds {
  readonly start: () => void;
  /** Begins no round more, and waits for the one under way. */
  readonly stop: () => Promise<void>;
}

/** `round` answers whether there is more to do at once. */
export function inRounds(
  what: string,
  everyMillis: number,
  round: () => Promise<boolean>,
  logger: Logger,
): Rounds {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const turn = async (): Promise<void> => {
    let isMore = false;
    try {
      isMore = await round();
    } catch (error) {
      logger.warn({ err: error }, `${what}: tried again`);
    }
    if (isStopped) return;
    timer = setTimeout(
      () => {
        running = turn();
      },
      isMore ? 0 : everyMillis,
    ).unref();
  };
  return {
    start: () => {
      running = turn();
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
