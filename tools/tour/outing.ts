import { Check } from './check.ts';
import { type Journal } from './journal.ts';
import { showStep } from './show.ts';

/** Goes through the steps of a tour and shows each; one that breaks off does not keep the next from being tried. */
export class Outing {
  readonly broken = new Check('every step went through');
  #steps = 0;

  /** `work` answers a line that says what happened; its calls are counted in the journals. */
  readonly step = async (
    name: string,
    work: () => Promise<string>,
    ...journals: readonly Journal[]
  ): Promise<void> => {
    const count = (): number => journals.reduce((sum, { calls }) => sum + calls.length, 0);
    const [begun, before] = [performance.now(), count()];
    const line = await work().catch((error: unknown) => {
      this.broken.fail(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return 'it broke off';
    });
    this.#steps += 1;
    this.broken.detail = `${this.#steps} steps`;
    showStep(name, line, count() - before, performance.now() - begun);
  };
}
