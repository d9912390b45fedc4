/**
 * Compares a service with a series of bare servers. Each does one step more than the previous one, and the
 * last does everything the service promises. The remaining difference is the service's own overhead. It
 * compares processor time of the server and of Postgres, because other load on the machine affects it less
 * than rates.
 */
import { type LoadRequest } from './load-request.ts';
import { type Bench, type Effort, inTurns, measure, type Sample, type Side } from './measure.ts';
import { median, type Spread, spread, verdict, whole } from './report.ts';

/** One of the compared servers. */
export interface Rung {
  /** A readable name: the step that this server does in addition to the previous one. */
  readonly name: string;
  readonly url: string;
}

type RequestLanes = readonly (readonly LoadRequest[])[];

/** Requests that every server answers. */
export interface ComparedRequest {
  readonly name: string;
  readonly lanes: RequestLanes;
  /** `lanes` in the format of the bare servers. */
  readonly bareLanes: RequestLanes;
  /** The lowest acceptable ratio of processor time: the last bare server's divided by the service's. */
  readonly goal: number;
}

export interface Ladder {
  /** The bare servers, each doing more than the previous one. */
  readonly bare: readonly Rung[];
  readonly service: Rung;
  /** The name of the bare server that runs only the statement. Shares are relative to this server. */
  readonly statement: string;
  readonly asked: readonly ComparedRequest[];
}

/** The cost of a request on one server: medians over the rounds. */
export interface RungCost {
  readonly rung: string;
  readonly serverMicros: number;
  readonly postgresMicros: number;
  readonly rate: number;
  readonly p50: number;
}

export interface LadderSummary {
  readonly name: string;
  /** The name of the compared server. */
  readonly of: string;
  readonly costs: readonly RungCost[];
  /**
   * Shares of processor time relative to the bare statement: of the bare server that does everything, and of
   * the service.
   */
  readonly bareWithAll: number;
  readonly service: number;
  /**
   * The service's share relative to the bare server that does everything: the median, minimum and maximum of
   * the rounds.
   */
  readonly share: Spread;
  readonly goal: number;
}

const microsOf = ({ serverMicros, postgresMicros }: Sample): number => serverMicros + (postgresMicros ?? 0);

function summarizeRequest(
  { bare, service, statement }: Ladder,
  { name, goal }: ComparedRequest,
  samples: ReadonlyMap<string, readonly Sample[]>,
): LadderSummary {
  const of = (rung: string): readonly Sample[] => samples.get(rung) ?? [];
  /** Compares within each round, because the servers of a round ran next to each other. */
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
    share: spread(own),
    goal,
  };
}

export async function climb(
  bench: Bench,
  ladder: Ladder,
  effort: Effort,
  onWarm: () => Promise<void>,
): Promise<LadderSummary[]> {
  const rungs = [...ladder.bare, ladder.service];
  const courses = ladder.asked.map(({ name, lanes, bareLanes }) =>
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
    summarizeRequest(
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
