/** Runs a property or a control in specs: in its short form, with a fixed seed. */
import { type Control, type Property } from './property.ts';
import { Services } from './services.ts';

/** A short form takes seconds; this timeout only ends a run that hangs. */
export const mostMillis = 180_000;
/** The seed is fixed, so that a failure can be repeated. `npm run prove` draws a new seed each time. */
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
