import { setTimeout as pause } from 'node:timers/promises';
import { type Pool } from '@muster/driver';
import { type Load, type LoadRequest, type LoadResult } from './load-request.ts';
import { readPostgresSeconds, readServerUse, type ServerUse } from './processor-time.ts';

/** The duration of the measurement, and the function that receives progress messages. */
export interface Effort {
  readonly rounds: number;
  /** The duration of the load on one server in a round. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** The result of one round on one server. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number;
  /** Processor time per request in microseconds, of the server and of PostgreSQL. */
  readonly serverMicros: number;
  readonly postgresMicros: number | null;
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  readonly sent: number;
}

const pollMillis = 10;
const maxPolls = 500;
/**
 * The number of successive idle observations after which the wait ends. One observation is not enough,
 * because another call may be about to start. A connection between two statements of a transaction is never
 * idle.
 */
const looksInARow = 3;

export interface Bench {
  readonly load: Load;
  /** A pool of the tables' owner. */
  readonly owner: Pool;
  /** The process ID of PostgreSQL's main process. */
  readonly postmaster: number;
}

/** Puts load on a server for a while. Throws if any answer is not 2xx. */
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
 * V8 optimizes functions that are called often. With 32 callers a renewal took 713 µs of Node's processor
 * time in the first 2,000 calls. It took 530 µs after 6,000 calls, 450 µs after 12,000, and no less after
 * 20,000. Slow operations warm up for at most `mostWarmSeconds`, and for at most `mostWarmRounds` rounds, so
 * that a trial run with short rounds stays short.
 */
const [warmCalls, mostWarmSeconds, mostWarmRounds] = [12_000, 20, 16];
const stretchSeconds = 2;

/** Warms up one side by runs of at most `seconds` per round, until more runs would not make it faster. */
async function warmUp(run: Side, seconds: number): Promise<void> {
  const most = Math.min(mostWarmSeconds, mostWarmRounds * seconds);
  const stretch = Math.min(stretchSeconds, most);
  for (let sent = 0, ran = 0; sent < warmCalls && ran + stretch <= most; ran += stretch)
    sent += (await run(stretch)).sent;
}

/** Measures one of the compared servers for the given number of seconds. */
export type Side = (seconds: number) => Promise<Sample>;

/**
 * Measures the sides of each course in turns, so that other load on the machine affects all of them. Returns
 * the samples by course and side, one for each round. Calls `onWarm` after all sides have warmed up.
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
      // The order alternates between rounds, so that no side always runs after the same other side.
      if ((round + index) % 2 === 1) turns.reverse();
      for (const [place, side] of turns) samples[index]?.[place]?.push(await side(seconds));
    }
    say(`Round ${round} of ${rounds}`);
  }
  return samples;
}

/**
 * Waits until the server has finished the requests that were cut off, because a server continues after its
 * caller has left.
 */
async function untilIdle(url: string, owner: Pool): Promise<ServerUse> {
  let quiet = 0;
  for (let looks = 0; looks < maxPolls; looks += 1) {
    await pause(pollMillis);
    // The answer with the metrics also proves that the server's event loop has run and could send its
    // remaining statements.
    const use = await readServerUse(url);
    const { rows } = await owner.query(
      `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    quiet = rows.length === 0 ? quiet + 1 : 0;
    if (quiet === looksInARow) return use;
  }
  throw new Error('PostgreSQL does not come to rest');
}

/** Throws if calls failed. A server that refuses calls is fast, so its rate would be wrong. */
function refuseFailures(what: string, { failed, refused, answered }: LoadResult): void {
  if (failed === 0 && answered > 1) return;
  const first = refused === null ? '' : `; the first: ${refused.status} ${refused.body}`;
  throw new Error(`${what}: ${failed} calls failed and ${answered} were answered${first}`);
}
