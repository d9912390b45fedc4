/** The definition of a property. Each has controls: runs without one of its guards, which must fail. */
import { type GuardRemoval } from './guards.ts';
import { type Scope } from './services.ts';

/** `short` is the form that npm test runs; `long` is the full test. */
export type Scale = 'short' | 'long';

export interface RunSetup {
  /** The seed of all random choices. An equal seed repeats them. */
  readonly seed: number;
  readonly scale: Scale;
  /** Prints a line about the progress. */
  readonly note: (line: string) => void;
  /** Starts servers and databases, which stop after the run. */
  readonly services: Scope;
}

export interface Findings {
  /** The violations that were found; empty if the property holds. */
  readonly violations: readonly string[];
  /** The figures of the run by name, such as the number of calls. */
  readonly figures: Readonly<Record<string, number | string>>;
}

/** Formats figures, such as "3 calls, 2 refusals". */
export const figuresInWords = (figures: Findings['figures']): string =>
  Object.entries(figures)
    .map(([what, figure]) => `${figure.toLocaleString('en-US')} ${what}`)
    .join(', ');

export interface Control {
  /** A description of the missing guard. */
  readonly name: string;
  /**
   * The tier that runs the control. `nx long` is for controls that take seconds to fail. `the long form` is
   * for controls that need a full run. Without this field, `npm test` runs the control.
   */
  readonly leftTo?: 'nx long' | 'the long form';
  run(setting: RunSetup): Promise<Findings>;
}

export interface Property {
  readonly name: string;
  /** The promise of the property, in one sentence. */
  readonly promise: string;
  /**
   * Marks a property that kills or starts many processes. The target `long` then runs it and its controls,
   * and `npm test` does not.
   */
  readonly leftTo?: 'nx long';
  run(setting: RunSetup): Promise<Findings>;
  /** Runs that must end with violations, because a test that cannot fail proves nothing. */
  readonly controls: readonly Control[];
}

/** The procedure of a property. It runs without the given guards. */
export type RunProperty<Extent> = (
  setting: RunSetup,
  extent: Extent,
  removals: readonly GuardRemoval[],
) => Promise<Findings>;

/** A property whose controls use the property's own procedure without some of the guards. */
interface Trials<Extent> {
  readonly name: string;
  readonly promise: string;
  readonly leftTo?: 'nx long';
  readonly short: Extent;
  readonly long: Extent;
  readonly run: RunProperty<Extent>;
  readonly controls: readonly (Pick<Control, 'name' | 'leftTo'> & {
    /** The extent of the control; by default that of the short form. */
    readonly extent?: Extent;
    readonly without?: readonly GuardRemoval[];
  })[];
}

export const property = <Extent>({ short, long, run, controls, ...named }: Trials<Extent>): Property => ({
  ...named,
  run: (setting) => run(setting, setting.scale === 'short' ? short : long, []),
  controls: controls.map(({ extent = short, without = [], ...control }) => ({
    ...control,
    run: (setting) => run(setting, extent, without),
  })),
});
