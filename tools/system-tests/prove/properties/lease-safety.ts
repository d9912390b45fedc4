/**
 * Clients work on stories and groups while Postgres is killed, connections break, and holders pause and die.
 * The seed repeats the random choices but not the timing, so a repeated run may differ.
 */
import { Dice } from '@muster/tools';
import { type Pauses, runUnderFaults, wreak } from '../havoc.ts';
import { property, type RunProperty } from '../property.ts';
import { openSite, type Site } from '../site.ts';
import { type Course, type Deed, hold, type UnitRef } from './lease-safety/holders.ts';
import { judge, type Rivals, type SafetyVerdict } from './lease-safety/verdict.ts';
import { swapped, without } from '../guards.ts';

interface Extent {
  readonly seconds: number;
  /**
   * The minimum numbers of kills, of broken connections, and of calls that happened without an answer. A run
   * with fewer is not complete.
   */
  readonly kills: number;
  readonly connections: number;
  readonly unknownButDone: number;
  readonly betweenKills: Pauses;
  readonly pauses: Pauses;
}

const long: Extent = {
  ...{ seconds: 60, kills: 12, connections: 180, unknownButDone: 1 },
  betweenKills: { least: 2_000, most: 5_000 },
  // Most pauses of a holder are longer than a lease.
  pauses: { least: 3_000, most: 8_000 },
};
const short: Extent = {
  ...{ seconds: 4, kills: 1, connections: 10, unknownButDone: 0 },
  betweenKills: { least: 500, most: 1_500 },
  pauses: { least: 500, most: 2_000 },
};

const people = 8;
/** The number of holders. The first one leads the project and may take over leases. */
const holders = 12;
const stories = 10;
const faultPauses = { least: 50, most: 350 };
/** The number of rounds within which a control must fail. */
const mostRounds = 12;

const run: RunProperty<Extent> = async ({ seed, services, note }, extent, removals) => {
  const dice = new Dice(seed);
  const site = await openSite(services, { people, removals });
  const { units, rivals } = await makeUnits(site);
  const history: Deed[] = [];
  const fates = new Map<string, number>();
  let verdict: SafetyVerdict | undefined;
  const isControl = removals.length > 0;
  for (let round = 1; round <= (isControl ? mostRounds : 1); round += 1) {
    await beInHavoc(site, dice, extent, { site, units, history, fates, pauses: extent.pauses });
    verdict = await judge(site.database.owner, site.orgId, history, rivals);
    if (verdict.violations.length > 0) break;
  }
  const { violations = [], grants = 0, effects = 0, unknownButDone = 0 } = verdict ?? {};
  for (const [fate, count] of fates) note(`holders ${fate}: ${count}`);
  if (isControl && violations[0] !== undefined) note(violations[0]);
  const broken = site.broken();
  const notReached = unknownButDone < extent.unknownButDone ? ['no unknown outcome had happened'] : [];
  return {
    violations: [...violations, ...(isControl ? [] : notReached)],
    figures: {
      calls: history.length,
      grants,
      'checkpoints written': effects,
      'unknown but done': unknownButDone,
      'Postgres kills': broken.postgres,
      'broken connections': broken.connections,
      'holders killed': fates.get('killed') ?? 0,
      'holders paused': fates.get('paused') ?? 0,
    },
  };
};

/** Creates stories, two of which are in a delivery group. */
async function makeUnits(site: Site): Promise<{ units: UnitRef[]; rivals: Rivals }> {
  const { ana: api, projectId } = site;
  const storyIds = await site.makeStories(stories);
  const grouped = storyIds.slice(0, 2);
  const { group } = await api.deliveryGroups.create({
    ...{ projectId, name: 'A group', storyIds: grouped },
  });
  await api.deliveryGroups.update({ groupId: group.id, state: 'active' });
  return {
    units: [
      ...storyIds.map((id): UnitRef => ({ type: 'story', id })),
      { type: 'delivery_group', id: group.id },
    ],
    rivals: new Map([[group.id, grouped], ...grouped.map((id): [string, string[]] => [id, [group.id]])]),
  };
}

async function beInHavoc(
  site: Site,
  dice: Dice,
  { seconds, kills, connections, betweenKills }: Extent,
  course: Omit<Course, 'isOver'>,
): Promise<void> {
  const { postgres } = site.breakables;
  const began = performance.now();
  const before = site.broken();
  const lines = site.copies.flatMap((copy) => copy.proxies);
  const breaking = wreak(dice.another(), faultPauses, () => void dice.pick(lines).breakOne(dice));
  const killing = wreak(dice.another(), betweenKills, () => postgres.killAndStartAgain());
  const isOver = (): boolean => {
    const now = site.broken();
    return (
      performance.now() - began > seconds * 1_000 &&
      now.postgres - before.postgres >= kills &&
      now.connections - before.connections >= connections
    );
  };
  const holdAs = (index: number): Promise<void> => {
    const nth = index % site.people.length;
    return hold({ ...course, isOver }, dice.another(), site.people[nth] ?? site.people[0], nth === 0);
  };
  await runUnderFaults([breaking, killing], () =>
    Promise.all(Array.from({ length: holders }, (_, index) => holdAs(index))),
  );
}

export const leaseSafety = property<Extent>({
  name: 'lease safety',
  leftTo: 'nx long',
  promise:
    'Whatever is killed or cut off: no epoch is granted twice, no holder writes under a grant that is not the newest, each acknowledged write is there once, and no lease is given to another holder before its time is over.',
  short,
  long,
  run,
  controls: [
    {
      name: 'the write of a holder is not fenced',
      leftTo: 'the long form',
      extent: { ...short, kills: 0 },
      without: [
        without("a holder's lease is locked"),
        without("a holder's execution is locked"),
        without('fence', (fence) => `(true or ${fence})`),
      ],
    },
    {
      name: 'a lease counts as expired before it is',
      leftTo: 'nx long',
      extent: { ...short, kills: 0 },
      without: [
        without(
          'the leases as an acquire reads them',
          swapped('l.expires_at', `l.expires_at - interval '1 day' as expires_at`),
        ),
      ],
    },
  ],
});
