/** What is proven, and against what it is tried: every property has controls, the same with a guard taken out. */
import { type Removal } from './guards.ts';
import { type Scope } from './services.ts';

/** `short` is for npm test, `long` is the bar. */
export type Scale = 'short' | 'long';

export interface Setting {
  /** The same seed does the same again. */
  readonly seed: number;
  readonly scale: Scale;
  /** A line about what goes on, for whoever watches. */
  readonly note: (line: string) => void;
  /** Servers and databases, which end with the run. */
  readonly services: Scope;
}

export interface Report {
  /** What must not be; none where the property holds. */
  readonly violations: readonly string[];
  /** What was done, in numbers, by name. */
  readonly figures: Readonly<Record<string, number | string>>;
}

/** Such as "3 calls, 2 refusals". */
export const figuresInWords = (figures: Report['figures']): string =>
  Object.entries(figures)
    .map(([what, figure]) => `${figure.toLocaleString('en-US')} ${what}`)
    .join(', ');

export interface Control {
  /** The guard that is taken out. */
  readonly name: string;
  /**
   * It takes seconds to be red, and `npm test` leaves it to the target `long`; or it takes what the long form alone
   * does. Without it `npm test` tries the control.
   */
  readonly leftTo?: 'nx long' | 'the long form';
  run(setting: Setting): Promise<Report>;
}

export interface Property {
  readonly name: string;
  /** What must hold, in one sentence. */
  readonly promise: string;
  /** It kills or starts many processes; `npm test` leaves it, with all of its controls, to the target `long`. */
  readonly leftTo?: 'nx long';
  run(setting: Setting): Promise<Report>;
  /** Each must end with violations: a harness that cannot fail proves nothing. */
  readonly controls: readonly Control[];
}

/** A property that is tried in the same way with all of its guards, and without some of them. */
interface Trials<Extent> {
  readonly name: string;
  readonly promise: string;
  readonly leftTo?: 'nx long';
  readonly short: Extent;
  readonly long: Extent;
  readonly run: (setting: Setting, extent: Extent, removals: readonly Removal[]) => Promise<Report>;
  readonly controls: readonly (Pick<Control, 'name' | 'leftTo'> & {
    /** That of the short form unless told. */
    readonly extent?: Extent;
    readonly without?: readonly Removal[];
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
