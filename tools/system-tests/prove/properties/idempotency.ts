/**
 * Retries writes with idempotency keys until they are acknowledged, while servers are killed and clients time
 * out. Each write must happen exactly once.
 */
import { Dice } from '@muster/tools';
import { type Pauses, runUnderFaults, wreak } from '../havoc.ts';
import { property, type Findings, type RunSetup } from '../property.ts';
import { openSite, type Site } from '../site.ts';
import { newTally, type WriteCounts, write } from './idempotency/writes.ts';

interface Extent {
  readonly writes: number;
  /** The minimum number of times that Postgres and the API must each be killed. */
  readonly kills: number;
  readonly killPauses: Pauses;
  readonly keyed: boolean;
}

const short: Extent = { writes: 200, kills: 1, killPauses: { least: 200, most: 500 }, keyed: true };
const long: Extent = { writes: 10_000, kills: 6, killPauses: { least: 1_000, most: 5_000 }, keyed: true };

const writers = 24;
const people = 4;
const stories = 12;
const faultPauses = { least: 100, most: 500 };

async function run({ seed, services }: RunSetup, wanted: Extent): Promise<Findings> {
  const dice = new Dice(seed);
  const site = await openSite(services, { people });
  const { breakables, copies } = site;
  const storyIds = await site.makeStories(stories);
  const tally = newTally();

  const lines = copies.flatMap((copy) => copy.proxies);
  const breaking = wreak(dice.another(), faultPauses, () => void dice.pick(lines).breakOne(dice));
  const killing = wreak(dice.another(), wanted.killPauses, async () => {
    if (wanted.kills === 0) return;
    const { postgres: kills, apis } = site.broken();
    await (kills <= apis ? breakables.postgres : dice.pick(copies).api).killAndStartAgain();
  });
  const isEnough = (): boolean => {
    const { postgres: kills, apis } = site.broken();
    return tally.begun >= wanted.writes && Math.min(kills, apis) >= wanted.kills;
  };
  const writeAll = async (): Promise<void> => {
    const mine = dice.another();
    while (!isEnough()) await write(site, mine, tally, { storyId: mine.pick(storyIds), keyed: wanted.keyed });
  };
  await runUnderFaults([breaking, killing], () =>
    Promise.all(Array.from({ length: writers }, () => writeAll())),
  );
  const broken = site.broken();
  return {
    violations: [...tally.unlike, ...(await missingOrDoubled(site, tally))],
    figures: {
      writes: tally.begun,
      'tries that were cut off': tally.cutOff,
      'done though cut off': tally.doneUnheard,
      twins: tally.twins,
      replays: tally.replays,
      'Postgres kills': broken.postgres,
      'API kills': broken.apis,
      'broken connections': broken.connections,
    },
  };
}

async function missingOrDoubled({ database, orgId }: Site, tally: WriteCounts): Promise<string[]> {
  const { rows } = await database.owner.query<{ body: string; ids: string[] }>(
    'select body, array_agg(id::text) as ids from comments where org_id = $1 group by body',
    [orgId],
  );
  const found = new Map(rows.map(({ body, ids }) => [body, ids]));
  const doubled = rows.filter(({ ids }) => ids.length > 1).length;
  const lost = [...tally.acknowledged].filter(([body, id]) => found.get(body)?.includes(id) !== true).length;
  const { rows: counts } = await database.owner.query<{ comments: number; events: number; audits: number }>(
    `select (select count(*)::int from comments where org_id = $1) as comments,
       (select count(*)::int from activity where org_id = $1 and kind = 'comment.created') as events,
       (select count(*)::int from audit where org_id = $1 and operation = 'comments.create') as audits`,
    [orgId],
  );
  const [all] = counts;
  return [
    ...(doubled > 0 ? [`${doubled} of ${tally.begun} writes happened more than once`] : []),
    ...(lost > 0 ? [`${lost} acknowledged writes are not there`] : []),
    ...(all === undefined || all.comments !== all.events || all.comments !== all.audits
      ? [`what was written, told and audited differ: ${JSON.stringify(all)}`]
      : []),
  ];
}

export const idempotency = property<Extent>({
  name: 'idempotency',
  promise:
    'A write with a key that is tried until it is acknowledged is done exactly once, and every try that is answered gets the same answer.',
  short,
  long,
  run,
  controls: [
    {
      name: 'writes have no keys',
      leftTo: 'nx long',
      extent: { ...short, writes: 60, kills: 0, keyed: false },
    },
  ],
});
