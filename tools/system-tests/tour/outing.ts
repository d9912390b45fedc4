import { Check } from './check.ts';
import { showStep } from './show.ts';

/** Runs the steps of a tour and prints each. After a failed step the next one still runs. */
export class Outing {
  readonly broken = new Check('every step went through');
  #steps = 0;

  /** Runs one step. `work` returns a line with its result. The journal counts its calls. */
  async step(
    name: string,
    work: () => Promise<string>,
    { calls }: { readonly calls: readonly unknown[] },
  ): Promise<void> {
    const [started, callsBefore] = [performance.now(), calls.length];
    const line = await work().catch((error: unknown) => {
      this.broken.fail(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return 'it broke off';
    });
    this.#steps += 1;
    this.broken.detail = `${this.#steps} steps`;
    showStep(name, line, calls.length - callsBefore, performance.now() - started);
  }
}
