// npm run bench: compares the product's cost with the minimum that Node and Postgres need for the same rows.
// Both servers run side by side and take turns in each round, so that other load on the machine affects both.
// The command never fails because something is slow. It fails if any answer is not 2xx.
//
//   --rounds 5      rounds, each with every operation on both servers
//   --seconds 1.2   duration of the load on one server in a round
//   --only a,b      operations by name, such as stories.get, also with --growth and --writes;
//                   or outbox: jobs and the sweep of leases
//   --writes        writes compared with bare servers that each do one step more, instead
//   --peers         Directus, PostGraphile, graphile-worker and pg-boss beside Muster, installed on demand, instead
//   --growth        reads and writes with 1,000 and with 100,000 stories and other records, instead
//   --stories N     the larger number for --growth
//   --scale         bytes per write, for sizing, instead
//   --json          prints the results as JSON on standard output and the progress on standard error
//
// Writes are spread over eight organizations with two projects each, as in a real service. The writes of one
// organization wait for each other at its stream row until commit. A separate result line shows a single
// organization with eight projects.
import { parseArgs } from 'node:util';
import { createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { exitCodeOf } from '@muster/tools';
import { bareTables } from './bare-statements.ts';
import { type BenchOrg, makeOrg, makeOrgs } from './data.ts';
import { fillStory } from './full-story.ts';
import { measureGrowth } from './growth.ts';
import { renderLadder } from './ladder.ts';
import { type Bench, inTurns, measure, type Sample, type Side } from './measure.ts';
import { sendInTurn } from './memory.ts';
import { measurePeers, renderPeers } from './peers.ts';
import { readServerUse } from './processor-time.ts';
import { measureOutbox, type OutboxSummary, renderOutbox } from './outbox.ts';
import { type Row, type Summary, renderTable, summarize, whole } from './report.ts';
import { startCounter } from './round-trips.ts';
import { measureScale, renderScale } from './scale.ts';
import { Services } from './services.ts';
import { connections, type Workload } from './work.ts';
import { works } from './works.ts';
import { measureWrites } from './writes.ts';

const orgCount = 8;
const projectsPerOrg = 2;
const projectsAlone = 8;
const roundTripCalls = 20;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.2' },
    only: { type: 'string' },
    growth: { type: 'boolean', default: false },
    stories: { type: 'string', default: '100000' },
    scale: { type: 'boolean', default: false },
    writes: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rounds = positive('rounds', options.rounds);
const seconds = positive('seconds', options.seconds);
const large = positive('stories', options.stories);
const only = options.only?.split(',').map((name) => name.trim());

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`--${name} is no number above 0: ${text}`);
}

const say = (line: string): void => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);

const effort = { rounds, seconds, say };

/** A workload on certain organizations. */
interface ComparisonPlan {
  readonly name: string;
  readonly work: Workload;
  readonly orgs: readonly BenchOrg[];
  /** The lowest acceptable rate, as a share of the bare server's rate. */
  readonly goal: number | null;
}

interface BenchResults {
  readonly summaries: readonly Summary[];
  readonly startMillis: number;
  readonly idleBytes: number;
  readonly loadedBytes: number;
}

const isChosen = (name: string): boolean => only === undefined || only.includes(name);

/** Returns the chosen workloads, and true if the outbox is measured. Throws if `--only` matches nothing. */
function choose(): { readonly chosen: readonly Workload[]; readonly withOutbox: boolean } {
  const chosen = works.filter(({ operation, name }) => isChosen(operation) || isChosen(name));
  const withOutbox = isChosen('outbox');
  if (chosen.length > 0 || withOutbox) return { chosen, withOutbox };
  const names = new Set(works.map(({ operation }) => operation));
  throw new Error(`--only names none of: ${[...names, 'outbox'].join(', ')}`);
}

async function compare(services: Services, chosen: readonly Workload[]): Promise<BenchResults> {
  say('Starting PostgreSQL (fsync on), building and starting coordination-api');
  const { postgres, main, api, owner, bench } = await services.installation();
  const { residentBytes: idleBytes } = await readServerUse(api.url);

  // Only writes are also measured in a single organization.
  const hasWrites = chosen.some(({ isWrite }) => isWrite);
  say(`Making ${orgCount + Number(hasWrites)} organizations, projects of 200 stories`);
  const several = { count: orgCount, projects: projectsPerOrg };
  const orgs = await makeOrgs(owner, api.url, 'bench', several);
  const alone = hasWrites ? [await makeOrg(owner, api.url, 'bench-alone', projectsAlone)] : [];
  for (const org of [...orgs, ...alone]) await fillStory(owner, org);
  await owner.query(bareTables);
  await owner.query('analyze');
  const bareUrl = await services.bare(postgres.url);
  const courses = [
    ...chosen.map((work): ComparisonPlan => ({ name: work.name, work, orgs, goal: work.goal })),
    ...chosen
      .filter(({ isWrite }) => isWrite)
      .map((work): ComparisonPlan => ({
        name: `${work.name}, one organization`,
        work,
        orgs: alone,
        goal: null,
      })),
  ];
  const roundTrips = await countRoundTrips(main, postgres.url, courses);
  const sides = { ours: api.url, theirs: bareUrl };
  const rows = await runCourses(bench, courses, sides);
  const { residentBytes: loadedBytes } = await readServerUse(api.url);
  return {
    summaries: rows.map((row) => summarize({ ...row, roundTrips: roundTrips.get(row.name) ?? null })),
    ...{ startMillis: api.startMillis, idleBytes, loadedBytes },
  };
}

const lanesOf = ({ work, orgs }: ComparisonPlan, side: 'muster' | 'bare') =>
  Array.from({ length: work.callers ?? connections }, (_, connection) =>
    work.lane(orgs, connection).map((twin) => twin[side]),
  );

/**
 * Caches the permissions of each token. A token unused for a minute is looked up again, and all callers of a
 * run would wait for that lookup.
 */
async function beKnown(url: string, orgs: readonly BenchOrg[]): Promise<void> {
  await Promise.all(
    orgs.map(({ token }) => createClient(httpTransport({ baseUrl: url, token })).session.identity()),
  );
}

async function runCourses(
  bench: Bench,
  courses: readonly ComparisonPlan[],
  urls: { readonly ours: string; readonly theirs: string },
): Promise<Row[]> {
  const ours =
    (course: ComparisonPlan): Side =>
    async (time) => {
      await beKnown(urls.ours, course.orgs);
      const before = await writtenBy(bench.owner, course.work);
      const what = `coordination-api, ${course.name}`;
      const sample = await measure(bench, what, urls.ours, lanesOf(course, 'muster'), time);
      if (course.work.isWrite) await checkWritten(bench.owner, course, before, sample);
      return sample;
    };
  const theirs =
    (course: ComparisonPlan): Side =>
    (time) =>
      measure(bench, `bare, ${course.name}`, urls.theirs, lanesOf(course, 'bare'), time);
  const sidesOf = (course: ComparisonPlan): Side[] => [ours(course), theirs(course)];
  const ofDifferentWorks = courses.filter(
    ({ work }, index) => courses.findIndex((other) => other.work === work) === index,
  );
  const samples = await inTurns(courses.map(sidesOf), effort, { warm: ofDifferentWorks.map(sidesOf) });
  return courses.map(({ name, goal, work: { mostP99Millis } }, index) => {
    const [mine = [], others = []] = samples[index] ?? [];
    return { ...{ name, goal, mostP99Millis, roundTrips: null }, ...{ ours: mine, theirs: others } };
  });
}

/** Returns the number of entries in the streams to which this workload writes. */
async function writtenBy(owner: Pool, { leaves = 'activity' }: Workload): Promise<number> {
  const { rows } = await owner.query<{ written: number }>(
    `select sum(${leaves})::int as written from streams`,
  );
  return rows[0]?.written ?? 0;
}

/** The share of answered writes that must have changed something. */
const leastChanging = 0.8;

/**
 * Throws if too few of the answered writes added an entry to their stream, because a write that changes
 * nothing is cheap. A few repeated writes are tolerated: each round is cut off at some request, and a later
 * round repeats that request.
 */
async function checkWritten(
  owner: Pool,
  { name, work }: ComparisonPlan,
  before: number,
  { answered }: Sample,
): Promise<void> {
  const written = (await writtenBy(owner, work)) - before;
  if (written >= answered * leastChanging) return;
  throw new Error(`${name}: ${answered} writes were answered and ${written} left a trace`);
}

/** Counts the round trips to Postgres per call of each operation, by a proxy on the connection. */
async function countRoundTrips(
  main: string,
  databaseUrl: string,
  courses: readonly ComparisonPlan[],
): Promise<Map<string, number>> {
  const services = new Services();
  try {
    const counter = await startCounter(databaseUrl);
    services.onStop(() => {
      counter.stop();
    });
    const api = await services.api(main, counter.url);
    const counts = new Map<string, number>();
    for (const course of courses) {
      const requests = course.work.lane(course.orgs, 0).map(({ muster }) => muster);
      // The first call of a token looks up its permissions.
      await sendInTurn(api.url, requests.slice(0, 1));
      counter.take();
      await sendInTurn(api.url, requests.slice(0, roundTripCalls));
      counts.set(course.name, counter.take() / roundTripCalls);
    }
    return counts;
  } finally {
    await services.stop();
  }
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;

/** A measurement that replaces the comparison of operations. Returns its results and a readable text. */
type SpecialBenchmark = (services: Services) => Promise<{ readonly results: unknown; readonly text: string }>;

const special =
  <Result>(
    measureIt: (services: Services) => Promise<Result>,
    render: (results: Result) => string,
  ): SpecialBenchmark =>
  async (services) => {
    const results = await measureIt(services);
    return { results, text: render(results) };
  };

/** Special measurements by the name of their option. */
const specials: Partial<Record<keyof typeof options, SpecialBenchmark>> = {
  growth: special(
    (services) => measureGrowth(services, effort, { only, large }),
    (results) =>
      `${renderTable(results, `${whole(large)} / 1,000 stories`)}\n\nGoal: no operation costs more than 1.3 times as much.`,
  ),
  scale: special((services) => measureScale(services, say), renderScale),
  writes: special((services) => measureWrites(services, effort, only), renderLadder),
  peers: special((services) => measurePeers(services, effort), renderPeers),
};

async function run(): Promise<void> {
  const services = new Services();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void services.stop().finally(() => process.exit(130)));
  try {
    for (const [name, measureIt] of Object.entries(specials)) {
      if (options[name as keyof typeof options] !== true) continue;
      const { results, text } = await measureIt(services);
      if (options.json) process.stdout.write(`${JSON.stringify({ [name]: results }, null, 2)}\n`);
      else say(`\n${text}`);
      return;
    }
    const { chosen, withOutbox } = choose();
    const results = chosen.length === 0 ? null : await compare(services, chosen);
    // Stops the servers of the comparison, so that they use no processor time during the next measurement.
    await services.stop();
    const outbox = withOutbox ? await measureOutbox(services, { rounds, say }) : null;
    if (options.json) process.stdout.write(`${JSON.stringify({ ...results, outbox }, null, 2)}\n`);
    else tell(results, outbox);
  } finally {
    await services.stop();
  }
}

function tell(results: BenchResults | null, outbox: OutboxSummary | null): void {
  if (results !== null) {
    const { summaries, startMillis, idleBytes, loadedBytes } = results;
    say(`\n${renderTable(summaries, 'Muster / bare')}\n`);
    say(
      `${connections} connections, ${rounds} rounds of ${seconds} s on each side; medians, and the ratio of each round's rates.`,
    );
    say(`CPU of the server and of PostgreSQL per request. Round trips: to PostgreSQL, per call.`);
    say(
      `Ready after ${Math.round(startMillis)} ms (goal 400), ${mebibytes(idleBytes)} idle (150), ${mebibytes(loadedBytes)} under load (300).`,
    );
  }
  if (outbox !== null) say(`\n${renderOutbox(outbox)}`);
}

process.exitCode = await exitCodeOf(run());
