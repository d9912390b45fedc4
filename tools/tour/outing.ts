import { Check } from './check.ts';
import { showStep } from './show.ts';

/** Runs the steps of a tour and shows each. A step that fails does not keep the next one from running. */
export class Outing {
  readonly broken = new Check('every step went through');
  #steps = 0;

  /** `work` returns a line that says what happened. The journal counts its calls. */
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
