import { setTimeout as pause } from 'node:timers/promises';
import { type Pool } from '@muster/driver';
import { type Load, type LoadRequest, type LoadResult } from './load-request.ts';
import { readPostgresSeconds, readServerUse, type ServerUse } from './processor-time.ts';

/** How long it is measured, and whom the progress is told. */
export interface Effort {
  readonly rounds: number;
  /** Of load on one side at a time. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** One round on one side. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number;
  /** Processor time per request, of the server and of PostgreSQL. */
  readonly serverMicros: number;
  readonly postgresMicros: number | null;
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  readonly sent: number;
}

const lookMillis = 10;
const mostLooks = 500;
/** Between two statements of one transaction a connection is never idle, but the next caller may be about to come. */
const looksInARow = 3;

export interface Bench {
  readonly load: Load;
  /** The owner's connections. */
  readonly owner: Pool;
  /** Process id of PostgreSQL. */
  readonly postmaster: number;
}

/** Puts load on a server for a while. Throws when anything was answered with other than 2xx. */
export async function measure(
  { load, owner, postmaster }: Bench,
  what: string,
  url: string,
  lanes: readonly (readonly LoadRequest[])[],
  seconds: number,
): Promise<Sample> {
  const before = await readServerUse(url);
  const postgresBefore = await readPostgresSeconds(postmaster);
  const result = await load({ url, lanes, seconds });
  const after = await untilIdle(url, owner);
  const postgresAfter = await readPostgresSeconds(postmaster);
  refuseFailures(what, result);
  const { rate, answered, sent, p50, p99 } = result;
  const micros = (used: number): number => (used / sent) * 1e6;
  return {
    ...{ rate, answered, sent, p50, p99 },
    serverMicros: micros(after.cpuSeconds - before.cpuSeconds),
    postgresMicros:
      postgresBefore === null || postgresAfter === null ? null : micros(postgresAfter - postgresBefore),
  };
}

/**
 * V8 optimizes what was called often: with 32 callers a renewal took Node 713 µs of processor time in the first 2,000 calls,
 * 530 after 6,000 and 450 after 12,000, and no less after 20,000. Operations that are slow have so many seconds instead, and
 * at most so many times what a round has: a run for a fifth of a second is one that tries the benchmark.
 */
const [warmCalls, mostWarmSeconds, mostWarmRounds] = [12_000, 20, 16];
const stretchSeconds = 2;

/** Runs what is to be measured, for rounds of so many seconds, until it takes no less time by being run. */
async function warmUp(run: Side, seconds: number): Promise<void> {
  const most = Math.min(mostWarmSeconds, mostWarmRounds * seconds);
  const stretch = Math.min(stretchSeconds, most);
  for (let sent = 0, ran = 0; sent < warmCalls && ran + stretch <= most; ran += stretch)
    sent += (await run(stretch)).sent;
}

/** Measures one side for so many seconds. */
export type Side = (seconds: number) => Promise<Sample>;

/**
 * Measures the sides of each course in turns, so that other work on the machine affects all of them. Answers the samples by
 * course and side, one for each round. `onWarm` runs after all have warmed up.
 */
export async function inTurns(
  courses: readonly (readonly Side[])[],
  { rounds, seconds, say }: Effort,
  {
    warm = courses,
    onWarm = async () => undefined,
  }: { warm?: typeof courses; onWarm?: () => Promise<void> } = {},
): Promise<Sample[][][]> {
  say('Warming up');
  for (const side of warm.flat()) await warmUp(side, seconds);
  await onWarm();
  const samples = courses.map((sides) => sides.map((): Sample[] => []));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, sides] of courses.entries()) {
      const turns = [...sides.entries()];
      // Neither side always finds the machine as the other left it.
      if ((round + index) % 2 === 1) turns.reverse();
      for (const [place, side] of turns) samples[index]?.[place]?.push(await side(seconds));
    }
    say(`Round ${round} of ${rounds}`);
  }
  return samples;
}

/** What was cut off at the end of a run is finished before the next begins: servers go on for callers that left. */
async function untilIdle(url: string, owner: Pool): Promise<ServerUse> {
  let quiet = 0;
  for (let looks = 0; looks < mostLooks; looks += 1) {
    await pause(lookMillis);
    // Its answer also shows that the server has had a turn since, to send what it still had to send.
    const use = await readServerUse(url);
    const { rows } = await owner.query(
      `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    quiet = rows.length === 0 ? quiet + 1 : 0;
    if (quiet === looksInARow) return use;
  }
  throw new Error('PostgreSQL does not come to rest');
}

/** A server that refuses is fast; its rate would be a lie. */
function refuseFailures(what: string, { failed, refused, answered }: LoadResult): void {
  if (failed === 0 && answered > 1) return;
  const first = refused === null ? '' : `; the first: ${refused.status} ${refused.body}`;
  throw new Error(`${what}: ${failed} calls failed and ${answered} were answered${first}`);
}
