import { type Sample } from './measure.ts';

/** Measurements of one operation on the two compared servers. */
export interface Row {
  readonly name: string;
  readonly ours: readonly Sample[];
  readonly theirs: readonly Sample[];
  readonly goal: number | null;
  /** The highest acceptable 99th percentile in milliseconds. */
  readonly mostP99Millis?: number | undefined;
  readonly roundTrips: number | null;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? NaN : (low + high) / 2;
}

/** Returns the value below which this share of all values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** The median, minimum and maximum of the rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export const spread = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

export const quantiles = (values: readonly number[]): Quantiles => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
});

/** The ratios within each round, because both sides of a round ran next to each other. */
export const ratios = ({ ours, theirs }: Pick<Row, 'ours' | 'theirs'>): number[] =>
  ours.flatMap(({ rate }, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [rate / other.rate];
  });

export interface Summary {
  readonly name: string;
  readonly goal: number | null;
  readonly met: boolean | null;
  readonly mostP99Millis: number | null;
  readonly ratio: Spread;
  readonly ours: SideSummary;
  readonly theirs: SideSummary;
  readonly roundTrips: number | null;
}

type SideSummary = Omit<Sample, 'answered' | 'sent'>;

const summarizeSide = (samples: readonly Sample[]): SideSummary => {
  const of = (value: (sample: Sample) => number): number => median(samples.map(value));
  const postgres = of(({ postgresMicros }) => postgresMicros ?? NaN);
  return {
    rate: of(({ rate }) => rate),
    serverMicros: of(({ serverMicros }) => serverMicros),
    postgresMicros: Number.isNaN(postgres) ? null : postgres,
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
  };
};

export function summarize(row: Row): Summary {
  const ratio = spread(ratios(row));
  return {
    ...{ name: row.name, goal: row.goal, ratio, roundTrips: row.roundTrips },
    mostP99Millis: row.mostP99Millis ?? null,
    met: row.goal === null ? null : ratio.median >= row.goal,
    ours: summarizeSide(row.ours),
    theirs: summarizeSide(row.theirs),
  };
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const two = (value: number): string => value.toFixed(2);
export const verdict = (met: boolean): string => (met ? 'met' : 'NOT MET');
const micros = (value: number | null): string => (value === null ? '–' : whole(value));

const heads = [
  '',
  'req/s',
  'CPU µs',
  'Postgres µs',
  'p50 ms',
  'p99 ms',
  'ratio (min–max)',
  'goal',
  'round trips',
];

/**
 * Renders a readable table. Each cell shows the product's value, a `/`, and the value of the compared server.
 */
export function renderTable(summaries: readonly Summary[], sides: string): string {
  const rows = summaries.map(({ name, ours, theirs, ratio, goal, met, mostP99Millis, roundTrips }) => [
    name,
    `${whole(ours.rate)} / ${whole(theirs.rate)}`,
    `${whole(ours.serverMicros)} / ${whole(theirs.serverMicros)}`,
    `${micros(ours.postgresMicros)} / ${micros(theirs.postgresMicros)}`,
    `${two(ours.p50)} / ${two(theirs.p50)}`,
    `${two(ours.p99)} / ${two(theirs.p99)}${mostP99Millis === null ? '' : ` (≤ ${mostP99Millis} ${verdict(ours.p99 <= mostP99Millis)})`}`,
    `${two(ratio.median)} (${two(ratio.min)}–${two(ratio.max)})`,
    goal === null ? '' : `≥ ${two(goal)} ${verdict(met === true)}`,
    roundTrips === null ? '' : roundTrips.toFixed(1),
  ]);
  const table = [[sides, ...heads.slice(1)], ...rows];
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return table.map((row) => `  ${line(row).trimEnd()}`).join('\n');
}
