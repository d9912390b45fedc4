/**
 * A service beside bare servers that do a step more each, up to one that does all that the service promises: what the
 * service costs beyond that is its own. Compared in processor time, of the server and of Postgres, which other work on the
 * machine moves less than rates.
 */
import { type LoadRequest } from './load-request.ts';
import { type Bench, type Effort, inTurns, measure, type Sample, type Side } from './measure.ts';
import { median, verdict, whole } from './report.ts';
import { type Services } from './services.ts';

/** One of those that are measured. */
export interface Rung {
  /** For people: what it does, or more than the one before it. */
  readonly name: string;
  readonly url: string;
}

type Lanes = readonly (readonly LoadRequest[])[];

/** What is asked of each rung. */
export interface Asked {
  readonly name: string;
  readonly lanes: Lanes;
  /** As the bare servers take it, where that differs. */
  readonly bareLanes?: Lanes;
  /** The least share of the last bare rung, in processor time. */
  readonly goal: number;
}

export interface Ladder {
  /** The bare servers, each doing more than the one before. */
  readonly bare: readonly Rung[];
  readonly service: Rung;
  /** The name of the bare server that a bare statement is: shares are told of it. */
  readonly statement: string;
  readonly asked: readonly Asked[];
}

/** What one rung takes for a request: medians over the rounds. */
export interface RungCost {
  readonly rung: string;
  readonly serverMicros: number;
  readonly postgresMicros: number;
  readonly rate: number;
  readonly p50: number;
}

export interface LadderSummary {
  readonly name: string;
  /** The service's name. */
  readonly of: string;
  readonly costs: readonly RungCost[];
  /** Shares of the bare statement, in processor time: of the bare server that does all of it, and of the service. */
  readonly bareWithAll: number;
  readonly service: number;
  /** The service's share of the bare server that does all of it, the rounds' median and both ends. */
  readonly share: { readonly median: number; readonly min: number; readonly max: number };
  readonly goal: number;
}

const microsOf = ({ serverMicros, postgresMicros }: Sample): number => serverMicros + (postgresMicros ?? 0);

function summarizeAsked(
  { bare, service, statement }: Ladder,
  { name, goal }: Asked,
  samples: ReadonlyMap<string, readonly Sample[]>,
): LadderSummary {
  const of = (rung: string): readonly Sample[] => samples.get(rung) ?? [];
  /** By the rounds' own ratios: all rungs of a round ran next to each other. */
  const shares = (part: string, whole: string): number[] =>
    of(part).flatMap((sample, round) => {
      const other = of(whole)[round];
      return other === undefined ? [] : [microsOf(sample) / microsOf(other)];
    });
  const withAll = bare.at(-1)?.name ?? '';
  const own = shares(withAll, service.name);
  return {
    name,
    of: service.name,
    costs: [...bare, service].map(({ name: rung }) => ({
      rung,
      serverMicros: median(of(rung).map(({ serverMicros }) => serverMicros)),
      postgresMicros: median(of(rung).map(({ postgresMicros }) => postgresMicros ?? 0)),
      rate: median(of(rung).map(({ rate }) => rate)),
      p50: median(of(rung).map(({ p50 }) => p50)),
    })),
    bareWithAll: median(shares(statement, withAll)),
    service: median(shares(statement, service.name)),
    share: { median: median(own), min: Math.min(...own), max: Math.max(...own) },
    goal,
  };
}

/** Starts a bare server for each step that a file of this folder knows (bare-server.ts). */
export async function startRungs(
  services: Services,
  file: string,
  stepNames: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): Promise<Rung[]> {
  const rungs: Rung[] = [];
  for (const [step, name] of Object.entries(stepNames))
    rungs.push({ name, url: await services.bareServer(file, { ...environment, STEP: step }) });
  return rungs;
}

export async function climb(
  bench: Bench,
  ladder: Ladder,
  effort: Effort,
  onWarm: () => Promise<void>,
): Promise<LadderSummary[]> {
  const rungs = [...ladder.bare, ladder.service];
  const courses = ladder.asked.map(({ name, lanes, bareLanes = lanes }) =>
    rungs.map(
      (rung): Side =>
        (time) =>
          measure(
            bench,
            `${name}, ${rung.name}`,
            rung.url,
            rung === ladder.service ? lanes : bareLanes,
            time,
          ),
    ),
  );
  const samples = await inTurns(courses, effort, { onWarm });
  return ladder.asked.map((asked, index) =>
    summarizeAsked(
      ladder,
      asked,
      new Map(rungs.map(({ name }, place) => [name, samples[index]?.[place] ?? []])),
    ),
  );
}

const two = (value: number): string => value.toFixed(2);

export function renderLadder(summaries: readonly LadderSummary[]): string {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(44) : cell.padStart(13))).join('');
  return summaries
    .flatMap(({ name, of, costs, bareWithAll, service, share, goal }) => [
      line([name, 'CPU µs', 'Postgres µs', 'req/s', 'p50 ms']),
      ...costs.map(({ rung, serverMicros, postgresMicros, rate, p50 }) =>
        line([rung, whole(serverMicros), whole(postgresMicros), whole(rate), two(p50)]),
      ),
      `processor time, share of the bare statement: ${two(bareWithAll)} bare with all of it, ${two(service)} ${of}`,
      `processor time, ${of}'s share of bare with all of it: ${two(share.median)} (${two(share.min)}–${two(share.max)}), goal ≥ ${two(goal)} ${verdict(share.median >= goal)}`,
      '',
    ])
    .map((text) => `  ${text}`.trimEnd())
    .join('\n');
}
