/** Something that was started and has to be ended. */
interface Ending {
  stop(): Promise<void>;
  kill(): void;
}

/**
 * One Ctrl-C often arrives twice: the terminal sends it to the whole group, and npm and run.mjs pass it on as well.
 * Only what comes later is a second one.
 */
const SAME_SIGNAL_SECONDS = 1;

/** Ends what was started, in the reverse order, on a signal or when told. */
export class Shutdown {
  readonly #endings: Ending[] = [];
  #over: Promise<void> | undefined;

  /** Takes over the signals; `finish` runs after everything has ended, and the process exits with 0. */
  constructor(say: (line: string) => void, finish: () => void) {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      if (firstAt === undefined) {
        firstAt = Date.now();
        say('Stopping (Ctrl-C again kills)');
        void this.stop().then(() => {
          finish();
          say('Stopped');
          process.exit(0);
        });
      } else if (Date.now() - firstAt > SAME_SIGNAL_SECONDS * 1000) {
        for (const ending of this.#endings) ending.kill();
        finish();
        say('Killed');
        process.exit(130);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  }

  get isUnderWay(): boolean {
    return this.#over !== undefined;
  }

  /** Hands something over that was just started; when the stop came meanwhile, it ends at once. */
  async add(ending: Ending): Promise<void> {
    if (this.#over === undefined) this.#endings.push(ending);
    else await ending.stop();
  }

  stop(): Promise<void> {
    this.#over ??= this.#stopAll();
    return this.#over;
  }

  async #stopAll(): Promise<void> {
    for (const ending of this.#endings.toReversed()) {
      await ending.stop().catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
      });
    }
  }
}
