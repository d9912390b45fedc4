/** How specs try a property or a control: in its short form, and with the same seed every time. */
import { type Control, type Property } from './property.ts';
import { Services } from './services.ts';

/** A short form takes seconds; this only ends what hangs. */
export const mostMillis = 180_000;
/** A red test is red again. `npm run prove` draws another one each time. */
const seed = 1;

export class Trial {
  readonly services = new Services();

  async violationsOf({ run }: Pick<Property | Control, 'run'>): Promise<readonly string[]> {
    const { violations } = await this.services.during((scope) =>
      run({ seed, scale: 'short', services: scope, note: () => undefined }),
    );
    return violations;
  }
}
