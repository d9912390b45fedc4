/** A started program that has to be ended. */
interface StoppableProgram {
  stop(): Promise<void>;
  kill(): void;
}

/**
 * The period in which repeated signals count as one. A Ctrl-C often arrives twice: from the terminal for the
 * whole group, and from npm and run.mjs.
 */
const SAME_SIGNAL_SECONDS = 1;

/** Ends the started programs in reverse order, on a signal or on request. */
export class Shutdown {
  readonly #endings: StoppableProgram[] = [];
  #over: Promise<void> | undefined;

  /** Handles the signals. `finish` runs after everything has ended, and the process exits with 0. */
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

  /** Adds a program that was just started. It is ended immediately if the shutdown has begun. */
  async add(ending: StoppableProgram): Promise<void> {
    if (this.#over === undefined) this.#endings.push(ending);
    else await ending.stop();
  }

  stop(): Promise<void> {
    this.#over ??= this.#stopAll();
    return this.#over;
  }

  async #stopAll(): Promise<void> {
    for (const ending of this.#endings.toReversed())
      await ending.stop().catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
      });
  }
}
