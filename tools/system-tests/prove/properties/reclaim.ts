/**
 * Agents acquire stories and are killed. Soon after a lease expires, and never before, the worker must record
 * its end and the next caller must get the story. The property tests this with Redis up, down and flushed.
 */
import { type Client, isRefusal, MusterError } from '@muster/client';
import { type Pool } from '@muster/driver';
import { never, without } from '../guards.ts';
import { type TestUser } from '../organization.ts';
import { property, type RunProperty } from '../property.ts';
import { comesToBe, openSite, type Site } from '../site.ts';
import { killAfter, type Killed } from './reclaim/agent-process.ts';

const redisStates = ['down', 'up', 'flushed'] as const;
type RedisState = (typeof redisStates)[number];

interface Extent {
  readonly rounds: readonly RedisState[];
  readonly holdersPerRound: number;
}

const ttlSeconds = 5;
/** The longest permitted delay after the end of a lease. */
const mostLateMillis = 10_000;
const patienceMillis = ttlSeconds * 1_000 + 2 * mostLateMillis;

/**
 * The end of a lease, and the time at which the worker recorded it or another caller got the story. Both are
 * milliseconds of the database's clock.
 */
interface Reclaimed {
  readonly how: 'noted' | 'taken';
  readonly endedAt: number;
  readonly at: number;
}

interface Course {
  readonly site: Site;
  /** The member whose agents are killed, and the member who takes over their stories. */
  readonly holder: TestUser;
  readonly rival: TestUser;
  readonly violations: string[];
}

const run: RunProperty<Extent> = async ({ services, note }, extent, removals) => {
  const site = await openSite(services, { people: 2 });
  await site.startWorker({ removals });
  const [holder, rival] = site.people;
  if (rival === undefined) throw new Error('nobody is there');
  const course: Course = { site, holder, rival, violations: [] };
  const { redis } = site.breakables;
  const reclaimed: Reclaimed[] = [];
  for (const state of extent.rounds) {
    const storyIds = await site.makeStories(extent.holdersPerRound);
    const killed = await Promise.all(storyIds.map((storyId) => kill(course, storyId)));
    if (state === 'down') await redis.kill();
    if (state === 'flushed') await site.breakables.flushRedis();
    const isControl = removals.length > 0;
    const results = await Promise.all(
      killed.map((one, index) =>
        index % 2 === 0 || isControl
          ? untilNoted(course, one)
          : untilTaken(course, one, storyIds[index] ?? ''),
      ),
    );
    reclaimed.push(...results.filter((one) => one !== undefined));
    await redis.startAgain();
    note(`${storyIds.length} holders killed, Redis ${state}`);
  }
  const late = reclaimed.map(({ endedAt, at }) => at - endedAt);
  for (const [index, { how }] of reclaimed.entries()) {
    const millis = late[index] ?? 0;
    if (millis < 0) course.violations.push(`${how} ${-millis} ms before the end of its time`);
    if (millis > mostLateMillis) course.violations.push(`${how} ${millis} ms after the end of its time`);
  }
  return {
    violations: course.violations,
    figures: {
      'holders killed': extent.rounds.length * extent.holdersPerRound,
      noted: reclaimed.filter(({ how }) => how === 'noted').length,
      taken: reclaimed.filter(({ how }) => how === 'taken').length,
      'ms late at most': Math.max(0, ...late),
    },
  };
};

/** Starts an agent that acquires the story and writes a checkpoint, and kills it without a shutdown. */
const kill = ({ site, holder }: Course, storyId: string): Promise<Killed> =>
  killAfter(1, {
    ...{ baseUrl: site.copies[0].api.url, token: holder.token, projectId: site.projectId, storyId },
    ...{ runId: crypto.randomUUID(), ttlSeconds },
    resources: [`src/${storyId}/**`],
  });

/** Waits until the worker records the end of the lease. No other caller asks for the story. */
async function untilNoted(course: Course, { executionId }: Killed): Promise<Reclaimed | undefined> {
  const { database, orgId } = course.site;
  let found: { expiredAt: string; at: string } | undefined;
  const isNoted = await comesToBe(async () => {
    const { rows } = await database.owner.query<{ expiredAt: string; at: string }>(
      `select data ->> 'expiredAt' as "expiredAt", at from execution_events
       where org_id = $1 and execution_id = $2 and kind = 'expired'`,
      [orgId, executionId],
    );
    [found] = rows;
    return found !== undefined;
  }, patienceMillis);
  if (!isNoted || found === undefined) {
    course.violations.push(`nobody noted the end of a lease within ${patienceMillis} ms`);
    return undefined;
  }
  return { how: 'noted', endedAt: Date.parse(found.expiredAt), at: Date.parse(found.at) };
}

/** Asks for the story repeatedly as another member, until the story is granted. */
async function untilTaken(course: Course, killed: Killed, storyId: string): Promise<Reclaimed | undefined> {
  const { site, holder, rival, violations } = course;
  const api = site.clientOf(rival);
  const runId = crypto.randomUUID();
  // The end of the lease. This value is used if the first request for the story comes only after the lease
  // has expired.
  let endedAt = await expiryOf(site.database.owner, killed);
  let at: number | undefined;
  const isTaken = await comesToBe(async () => {
    try {
      const { execution, resumed } = await api.deliveryExecutions.acquire({
        ...{ targetType: 'story', targetId: storyId, runId, ttlSeconds: 600 },
      });
      at = Date.parse(execution.updatedAt);
      if (!resumed || (execution.checkpoint?.seq ?? 0) < killed.lastCheckpoint)
        violations.push('whoever took the work over did not find the last checkpoint');
      return true;
    } catch (error) {
      if (!isRefusal(error, 'lease_held')) throw error;
      endedAt = Date.parse(String(error.body.details?.['expiresAt']));
      return false;
    }
  }, patienceMillis);
  if (!isTaken || at === undefined || endedAt === undefined) {
    violations.push(`nobody got the work of a holder that was killed within ${patienceMillis} ms`);
    return undefined;
  }
  if (await isStillHeard(site.clientOf(holder), killed)) violations.push('the dead holder still renews');
  return { how: 'taken', endedAt, at };
}

async function expiryOf(owner: Pool, { executionId }: Killed): Promise<number | undefined> {
  const { rows } = await owner.query<{ expiresAt: string }>(
    `select l.expires_at as "expiresAt" from leases l
     join executions e on e.org_id = l.org_id and e.target_type = l.unit_type and e.target_id = l.unit_id
     where e.id = $1`,
    [executionId],
  );
  return rows[0] && Date.parse(rows[0].expiresAt);
}

async function isStillHeard(api: Client, { executionId, leaseToken }: Killed): Promise<boolean> {
  try {
    await api.deliveryExecutions.renew({ executionId, leaseToken });
    return true;
  } catch (error) {
    if (error instanceof MusterError && error.reason === 'stale_lease') return false;
    throw error;
  }
}

const early = (past: string): string => `${past} + interval '1 day'`;
const once: Extent = { rounds: ['up'], holdersPerRound: 2 };

export const reclaim = property<Extent>({
  name: 'reclaim',
  leftTo: 'nx long',
  promise:
    'The lease of a killed holder is known to have ended, and its work goes to the next caller that asks, within 10 s of the end of its time and never before, with Redis up, down or flushed.',
  short: { rounds: ['down', 'flushed'], holdersPerRound: 2 },
  long: { rounds: [...redisStates, ...redisStates, ...redisStates], holdersPerRound: 6 },
  run,
  controls: [
    {
      name: 'for the sweep leases count as expired before they are',
      leftTo: 'nx long',
      extent: once,
      without: [without('expiry is looked for in time', early), without('expiry is noted in time', early)],
    },
    {
      name: 'there is no sweep',
      leftTo: 'the long form',
      extent: once,
      without: [without('expiry is looked for in time', never)],
    },
  ],
});
