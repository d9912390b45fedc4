/**
 * Many clients write while webhooks are sent to a receiver that fails in three of ten attempts. Workers,
 * Redis, Postgres and the receiver are killed. Each event in events.list must arrive under its one id and
 * number, in order if the webhook asks for that. The times of retries are brought forward, because they would
 * otherwise take days.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Dice } from '@muster/tools';
import { strayIn } from '../differences.ts';
import { without } from '../guards.ts';
import { type Pauses } from '../havoc.ts';
import { property, type RunProperty } from '../property.ts';
import { type Inbox, openReceiver, type ProofReceiver } from '../receiver.ts';
import { countOf } from '../services.ts';
import { comesToBe, openSite, type Site, type Worker } from '../site.ts';

const faultNames = ['receiver kill', 'worker kill', 'Redis kill', 'Postgres kill'] as const;
type FaultName = (typeof faultNames)[number];

interface Extent {
  readonly events: number;
  readonly writers: number;
  readonly workers: number;
  /**
   * The number of comments on a story before the next story is created. In strict order a failed message
   * blocks the messages after it.
   */
  readonly commentsOnEach: number;
  readonly faults: readonly FaultName[];
  readonly betweenFaults: Pauses;
  /** The time after which a missing event counts as lost. */
  readonly lostAfterMillis: number;
}

const short: Extent = {
  ...{ events: 240, writers: 4, workers: 2, commentsOnEach: 20, faults: faultNames },
  ...{ betweenFaults: { least: 100, most: 600 }, lostAfterMillis: 60_000 },
};
const long: Extent = {
  ...{ events: 200_000, writers: 24, workers: 2, commentsOnEach: 100 },
  faults: Array.from({ length: 4 }, () => faultNames).flat(),
  ...{ betweenFaults: { least: 4_000, most: 12_000 }, lostAfterMillis: 900_000 },
};

const awayMillis = { least: 200, most: 1_000 };
const bringForwardMillis = 250;

interface Course {
  readonly site: Site;
  readonly workers: readonly Worker[];
  readonly receiver: ProofReceiver;
  readonly dice: Dice;
}

interface Endpoint {
  readonly kind: 'comment.created' | 'story.created';
  readonly inbox: Inbox;
}

const run: RunProperty<Extent> = async ({ seed, services, note }, extent, removals) => {
  const dice = new Dice(seed);
  const site = await openSite(services, { people: 1 });
  const receiver = await openReceiver(services, dice.another());
  const workers: Worker[] = [];
  for (let nth = 0; nth < extent.workers; nth += 1) workers.push(await site.startWorker({ removals }));
  const course: Course = { site, workers, receiver, dice };
  const comments = await openEndpoint(course, 'comment.created', 'parallel');
  const stories = await openEndpoint(course, 'story.created', 'strict');

  const ending = new AbortController();
  const forwarding = advanceRetries(site, ending.signal);
  const writing = write(course, extent);
  // A failure is reported where this promise is awaited.
  writing.catch(() => undefined);
  try {
    for (const fault of extent.faults) {
      await pause(dice.between(extent.betweenFaults.least, extent.betweenFaults.most));
      await faults[fault](course);
      note(fault);
    }
  } finally {
    await Promise.all([
      site.breakables.postgres.startAgain(),
      site.breakables.redis.startAgain(),
      receiver.startAgain(),
      ...workers.map((worker) => worker.app.startAgain()),
    ]);
  }
  await writing;
  const written = performance.now();
  const all = { comments: await eventsOf(site, comments), stories: await eventsOf(site, stories) };
  const arrived = ({ inbox }: Endpoint, ids: readonly string[]) => ids.every((id) => inbox.taken.has(id));
  await comesToBe(
    async () => arrived(comments, all.comments) && arrived(stories, all.stories) && (await isSettled(site)),
    extent.lostAfterMillis,
  );
  const millis = performance.now() - written;
  ending.abort();
  await forwarding;
  return {
    violations: [
      ...problemsOf(comments, all.comments),
      ...problemsOf(stories, all.stories),
      ...disorderOf(stories),
    ],
    figures: {
      ...{ writers: extent.writers, events: all.comments.length + all.stories.length },
      ...{ messages: comments.inbox.tries + stories.inbox.tries, faults: extent.faults.length },
      'ms after the last write': Math.round(millis),
    },
  };
};

async function openEndpoint(
  { site, receiver }: Course,
  kind: Endpoint['kind'],
  order: 'parallel' | 'strict',
): Promise<Endpoint> {
  const path = `/${order}`;
  const url = receiver.url(path);
  const { secret } = await site.ana.webhooks.create({ url, kinds: [kind], order });
  return { kind, inbox: receiver.inbox(path, secret) };
}

const faults: Readonly<Record<FaultName, (course: Course) => Promise<void>>> = {
  'receiver kill': async ({ receiver, dice }) => {
    await receiver.kill();
    await pause(dice.between(awayMillis.least, awayMillis.most));
    await receiver.startAgain();
  },
  'worker kill': async ({ workers, dice }) => {
    await dice.pick(workers).app.killAndStartAgain();
  },
  'Redis kill': async ({ site, dice }) => {
    await site.breakables.redis.kill();
    await pause(dice.between(awayMillis.least, awayMillis.most));
    await site.breakables.redis.startAgain();
  },
  'Postgres kill': async ({ site }) => {
    await site.breakables.postgres.killAndStartAgain();
  },
};

/**
 * Makes all pending deliveries due repeatedly, which simulates the time between attempts. The reservation of
 * a dead worker expires after 20 seconds.
 */
async function advanceRetries({ database, orgId }: Site, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await database.owner
      .query(
        `with due as (update webhook_deliveries set next_at = now(), attempts = 0
           where org_id = $1 and state = 'pending' and next_at > now() returning webhook_id)
         update webhooks set next_at = now()
         where org_id = $1 and id in (select webhook_id from due)`,
        [orgId],
      )
      // The query fails while Postgres is down.
      .catch(() => undefined);
    await pause(bringForwardMillis);
  }
}

/** Writes comments with all writers, and creates a new story after a number of comments. */
async function write({ site }: Course, { events, writers, commentsOnEach }: Extent): Promise<void> {
  const api = site.ana;
  let written = 0;
  const writeOn = async (): Promise<void> => {
    while (written < events) {
      const { story } = await api.stories.create({ projectId: 'PRV', title: `Story ${written}` });
      written += 1;
      for (let nth = 0; nth < commentsOnEach && written < events; nth += 1) {
        written += 1;
        await api.comments.create({ storyId: story.id, body: `Number ${written}` });
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, writeOn));
}

/** Returns the ids of the events, in the order of events.list. */
async function eventsOf(site: Site, { kind }: Endpoint): Promise<string[]> {
  const api = site.ana;
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await api.events.list({ kinds: [kind], limit: 200, ...(after !== undefined && { after }) });
    ids.push(...page.items.map(({ id }) => id));
    if (page.items.length === 0) return ids;
    after = page.cursor;
  }
}

const isSettled = async ({ database, orgId }: Site): Promise<boolean> =>
  (await countOf(database.owner, `webhook_deliveries where org_id = $1 and state = 'pending'`, [orgId])) ===
  0;

/** Reports lost events, unknown events, and events with several ids or numbers. */
function problemsOf({ kind, inbox }: Endpoint, ids: readonly string[]): string[] {
  const numbers = [...inbox.taken.values()].sort((a, b) => a - b);
  const gaps = numbers.filter((seq, nth) => seq !== nth + 1).length;
  return [
    ...strayIn([...inbox.taken.keys()], ids).map((what) => `${kind}: ${what}`),
    ...(gaps > 0 ? [`${gaps} numbers of ${kind} are not the ones after those before`] : []),
    ...inbox.problems.slice(0, 5),
  ];
}

/** Counts the events that an endpoint in strict order received after one with a larger number. */
function disorderOf({ kind, inbox: { order } }: Endpoint): string[] {
  const early = order.filter((seq, nth) => seq < (order[nth - 1] ?? 0)).length;
  return early > 0 ? [`${early} ${kind} came after later ones`] : [];
}

/** Marks a message as delivered when it is sent, whatever the receiver answers. */
const doneWhenSent = without('a message is delivered when its receiver says so', `'delivered'`);

export const webhooks = property<Extent>({
  name: 'webhooks',
  leftTo: 'nx long',
  promise:
    'Each event arrives by webhook under its one id and number, in order where the endpoint asks for that, even if workers, servers and receivers die.',
  short,
  long,
  run,
  controls: [
    {
      name: 'a message counts as delivered when it was sent, before its receiver answered',
      leftTo: 'nx long',
      extent: { ...short, events: 120, workers: 1, faults: [], lostAfterMillis: 10_000 },
      without: [doneWhenSent],
    },
  ],
});
