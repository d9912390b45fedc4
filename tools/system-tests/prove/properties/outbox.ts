/**
 * Comments with mentions create outbox rows, while the worker and Redis are killed and Redis is flushed. Each
 * notification must be handed on once, and each mail must be sent. The seed repeats the order of the faults
 * but not their timing.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { openQueues } from '@muster/redis/queues';
import { Dice } from '@muster/tools';
import { type FaultyProxy, startFaultyProxy } from '../faulty-line.ts';
import { type Pauses } from '../havoc.ts';
import { property, type RunProperty } from '../property.ts';
import { comesToBe, openSite, type Site, type Worker } from '../site.ts';
import { without } from '../guards.ts';

const faultNames = ['relay crash', 'Redis kill', 'Redis flush', 'worker kill'] as const;
type FaultName = (typeof faultNames)[number];

interface Extent {
  /** The minimum number of outbox rows to create. */
  readonly rows: number;
  readonly faults: readonly FaultName[];
  readonly betweenFaults: Pauses;
  /** Is true if the time for the remaining work is limited, which needs a machine without other load. */
  readonly isTimed: boolean;
}

const short: Extent = {
  ...{ rows: 150, faults: ['relay crash', 'Redis kill', 'Redis flush'] },
  ...{ betweenFaults: { least: 200, most: 1_500 }, isTimed: false },
};
const long: Extent = {
  ...{ rows: 7_000, faults: Array.from({ length: 3 }, () => faultNames).flat() },
  ...{ betweenFaults: { least: 2_000, most: 6_000 }, isTimed: true },
};

const people = 7;
const writers = 3;
/**
 * The number of unprocessed outbox rows above which writers wait, so that a slow machine has no larger
 * backlog than a fast one.
 */
const mostUndone = 200;
const redisAway = { least: 200, most: 1_500 };
const mostDrainMillis = 10_000;
/** The time after which unfinished work counts as lost. */
const lostAfterMillis = 60_000;

interface Course {
  readonly site: Site;
  readonly worker: Worker;
  readonly line: FaultyProxy;
  readonly dice: Dice;
}

const run: RunProperty<Extent> = async ({ seed, services, note }, extent, removals) => {
  const dice = new Dice(seed);
  const site = await openSite(services, { people });
  const { redis } = site.breakables;
  await site.breakables.flushRedis();
  const line = await startFaultyProxy(redis.url);
  services.onStop(() => line.stop());
  // In one control the relay writes another column of the outbox row, for which the worker's login needs this
  // privilege.
  if (removals.length > 0)
    await site.database.owner.query('grant update (done_at) on outbox to muster_worker');
  const worker = await site.startWorker({ redisUrl: line.through(redis.url), removals });
  const course: Course = { site, worker, line, dice };
  const [storyId = ''] = await site.makeStories(1);

  let faultsOver = false;
  const writing = writeUntil(
    course,
    storyId,
    async () => faultsOver && (await countRows(site)).all >= extent.rows,
  );
  // A failure is reported where this promise is awaited.
  writing.catch(() => undefined);
  try {
    // The worker must have started its work, because otherwise a fault would interrupt nothing.
    await comesToBe(async () => (await readdir(worker.mailFolder)).length > 0, lostAfterMillis);
    for (const fault of dice.shuffle(extent.faults)) {
      await pause(dice.between(extent.betweenFaults.least, extent.betweenFaults.most));
      await faults[fault](course);
      note(fault);
    }
  } finally {
    faultsOver = true;
    await Promise.all([redis.startAgain(), worker.app.startAgain()]);
  }
  const lastFaultAt = performance.now();
  const comments = await writing;
  const written = performance.now();
  const isDrained = await quietly(course, ({ undone, held }) => undone === held);
  const drainMillis = performance.now() - Math.max(lastFaultAt, written);
  const { held } = await countRows(site);
  if (!extent.isTimed) await expireHeldRows(site);
  const isQuiet = isDrained && (await quietly(course, ({ undone }) => undone === 0));

  const { all, dead } = await countRows(site);
  const { mentions, handedOn, doubled } = await countNotifications(site);
  const mails = (await readdir(worker.mailFolder)).length;
  const wrong = (isWrong: boolean, what: string): string[] => (isWrong ? [what] : []);
  const wanted = comments * (people - 1);
  return {
    violations: [
      ...wrong(!isQuiet, `not all was done ${lostAfterMillis / 1_000} s after the last fault`),
      ...wrong(
        extent.isTimed && drainMillis > mostDrainMillis,
        `it took ${Math.round(drainMillis)} ms to do what was left by the last fault`,
      ),
      ...wrong(dead > 0, `${dead} rows were given up`),
      ...wrong(mentions !== wanted, `${mentions} people were told of ${wanted}`),
      ...wrong(handedOn < mentions, `${mentions - handedOn} of ${mentions} notifications were lost`),
      ...wrong(doubled > 0, `${doubled} notifications were handed on more than once`),
      ...wrong(mails < handedOn, `${handedOn - mails} of ${handedOn} mails were not sent`),
    ],
    figures: {
      'outbox rows': all,
      mails,
      faults: extent.faults.length,
      'ms to drain': Math.round(drainMillis),
      'mails held longer': held,
    },
  };
};

const faults: Readonly<Record<FaultName, (course: Course) => Promise<void>>> = {
  'relay crash': async ({ line, worker }) => {
    // The relay has claimed rows and dies before it adds any of them to Redis.
    await line.holdBefore('rowId', lostAfterMillis);
    await worker.app.killAndStartAgain();
  },
  'worker kill': async ({ site, worker }) => {
    await someUndone(site);
    await worker.app.killAndStartAgain();
  },
  'Redis flush': async ({ site }) => {
    await someUndone(site);
    await site.breakables.flushRedis();
  },
  'Redis kill': async ({ site, dice }) => {
    await someUndone(site);
    await site.breakables.redis.kill();
    await pause(dice.between(redisAway.least, redisAway.most));
    await site.breakables.redis.startAgain();
  },
};

/** Waits for unprocessed outbox rows, because a fault without work in progress tests nothing. */
const someUndone = (site: Site): Promise<boolean> =>
  comesToBe(async () => (await countRows(site)).undone > 0, lostAfterMillis);

interface Rows {
  readonly all: number;
  readonly undone: number;
  /**
   * The number of mails that were being sent when their worker died. No worker sends them again until the
   * first one's reservation expires.
   */
  readonly held: number;
  readonly dead: number;
}

async function countRows({ database, orgId }: Site): Promise<Rows> {
  const { rows } = await database.owner.query<Rows>(
    `select count(*)::int as all, count(*) filter (where done_at is null)::int as undone,
       count(*) filter (where done_at is null and topic = 'notification.mail'
         and dispatch_after > now() + interval '10 seconds')::int as held,
       count(*) filter (where dead_at is not null)::int as dead
     from outbox where org_id = $1`,
    [orgId],
  );
  return rows[0] ?? { all: 0, undone: 0, held: 0, dead: 0 };
}

/** Makes reserved rows due immediately. This simulates the reservation time, which is most of a minute. */
const expireHeldRows = ({ database, orgId }: Site): Promise<unknown> =>
  database.owner.query('update outbox set dispatch_after = now() where org_id = $1 and done_at is null', [
    orgId,
  ]);

interface Notifications {
  readonly mentions: number;
  /** `handedOn` counts the notifications with a mail, and `doubled` counts those with more than one mail. */
  readonly handedOn: number;
  readonly doubled: number;
}

async function countNotifications({ database, orgId }: Site): Promise<Notifications> {
  const { rows } = await database.owner.query<Notifications>(
    `with made as (select payload ->> 'notificationId' as id, count(*) as mails from outbox
       where org_id = $1 and topic = 'notification.mail' group by 1)
     select count(*)::int as mentions, count(m.id)::int as "handedOn",
       count(*) filter (where m.mails > 1)::int as doubled
     from notifications n left join made m on m.id = n.id::text
     where n.org_id = $1 and n.kind = 'mention'`,
    [orgId],
  );
  return rows[0] ?? { mentions: 0, handedOn: 0, doubled: 0 };
}

/** Writes comments until `isEnough` returns true. Returns the number of written comments. */
async function writeUntil(
  { site }: Course,
  storyId: string,
  isEnough: () => Promise<boolean>,
): Promise<number> {
  const [, ...others] = site.people;
  const body = others.map(({ handle }) => `@${handle}`).join(' ');
  let comments = 0;
  const write = async (): Promise<void> => {
    while (!(await isEnough())) {
      if ((await countRows(site)).undone > mostUndone) {
        await pause(50);
        continue;
      }
      await site.ana.comments.create({ storyId, body });
      comments += 1;
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return comments;
}

/**
 * Waits until `isEnough` accepts the counts of rows and no job is left in Redis. Returns false after the
 * timeout.
 */
async function quietly({ site }: Course, isEnough: (rows: Rows) => boolean): Promise<boolean> {
  const queues = openQueues({ url: site.breakables.redis.url, onError: () => undefined });
  try {
    return await comesToBe(async () => {
      if (!isEnough(await countRows(site))) return false;
      const counts = await queues.counts().catch(() => undefined);
      return (
        counts !== undefined && Object.values(counts).every(({ waiting, active }) => waiting + active === 0)
      );
    }, lostAfterMillis);
  } finally {
    await queues.close();
  }
}

export const outbox = property<Extent>({
  name: 'outbox',
  leftTo: 'nx long',
  promise:
    'The work that follows from a write is done once, even if Redis is killed or flushed and workers die, and soon after they are back.',
  short,
  long,
  run,
  controls: [
    {
      // The control behaves like a system that enqueues a job and then forgets it.
      name: 'a row is marked done when it is added to Redis',
      leftTo: 'nx long',
      extent: { ...short, rows: 60, faults: ['relay crash'] },
      without: [
        without('a job is done when it was done', (attempt) => `done_at = now(), ${attempt}`),
        without('a job is done once', 'true'),
      ],
    },
  ],
});
