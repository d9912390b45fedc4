/**
 * Many clients write while others follow the streams. Each follower must see every event once, and all of
 * them in one order.
 */
import { Dice } from '@muster/tools';
import { makeBoard, stories } from '../board.ts';
import { differencesIn } from '../differences.ts';
import { without } from '../guards.ts';
import { during } from '../havoc.ts';
import { type Findings, property, type RunProperty } from '../property.ts';
import { countOf } from '../services.ts';
import { type Desk, foundTeam, must, openDesk, type TestTeam } from '../team.ts';
import { followActivity, followEvents, type FeedFollower } from './feeds/followers.ts';

const writers = 24;
const boards = 2;
const everyHands = { agentsMayComplete: true, requireMergeProof: false, completeStoryOnMerge: false };

/**
 * Numbers events by a sequence, which, like a bigserial, assigns numbers before the commit. Some transactions
 * sleep until they commit, so that numbers become visible out of order.
 */
const bySequence = without('numbers follow the order of commits', (update) => {
  const events = /activity = activity \+ (\$\d+)/.exec(update)?.[1];
  if (events === undefined) throw new Error('the number of events is counted otherwise');
  return `select given.audit, given.activity
    from (select nextval('app.prove_numbers') as audit, nextval('app.prove_numbers') + 0 * ${events}::bigint as activity offset 0) given,
      lateral pg_sleep(case when given.activity / 2 % 3 = 0 then 0.02 else 0 end)`;
});

/** The sequence starts above all numbers that were assigned before. */
export const sequenceSql = `create sequence app.prove_numbers start 1000000;
  grant usage on sequence app.prove_numbers to muster_app`;

interface Work {
  readonly storyId: string;
  readonly executionId: string;
}

const run: RunProperty<number> = async ({ seed, services }, least, removals) => {
  const team = await foundTeam(services);
  if (removals.length > 0) await team.database.owner.query(sequenceSql);
  const desk = await openDesk(team, services, { removals, max: writers });
  const readers = await openDesk(team, services, { max: 3 });
  const { ana } = team.people;
  const works = await startWork(team, desk);
  const executionIds = works.map(({ executionId }) => executionId);

  const followers = [
    await followActivity(team, readers, ana),
    followEvents(team, readers, team.people.ben, executionIds, 200),
    followEvents(team, readers, team.people.dan, executionIds, 7),
  ];
  let written = 0;
  await during(
    followers.map(({ poll: look }) => look),
    async () => {
      written = await writeAll(team, desk, works, { seed, least });
    },
  );
  // All writes are committed by now, so a last look must find all events that a follower has not seen yet.
  for (const follower of followers) await follower.poll();
  return report(team, followers, written);
};

async function startWork(team: TestTeam, desk: Desk): Promise<Work[]> {
  const works: Work[] = [];
  for (let made = 0; made < boards; made += 1) {
    const { ids } = await makeBoard(team, everyHands);
    for (const name of stories) {
      const params = { targetType: 'story', targetId: ids[name], runId: 'feeds', ttlSeconds: 3600 };
      const { execution } = await must(desk.call(team.people.robo, 'deliveryExecutions.acquire', params));
      works.push({ storyId: ids[name], executionId: (execution as { id: string }).id });
    }
  }
  return works;
}

/** Writes half of the events through the story of an execution and half through the forge. */
async function writeAll(
  { people }: TestTeam,
  desk: Desk,
  works: readonly Work[],
  { seed, least }: { readonly seed: number; readonly least: number },
): Promise<number> {
  const dice = new Dice(seed);
  let written = 0;
  const write = async (mine: Dice): Promise<void> => {
    while (written < least) {
      written += 1;
      const { storyId, executionId } = mine.pick(works);
      const who = mine.pick([people.ana, people.ben, people.chloe]);
      if (mine.chance(0.5)) {
        await must(desk.call(who, 'comments.create', { storyId, body: `Number ${written}` }));
        continue;
      }
      const kind = mine.pick(['checks_passed', 'checks_failed', 'branch_pushed']);
      const dedupeKey = `delivery-${written}`;
      const observation = { dedupeKey, kind, observedAt: new Date().toISOString() };
      const params = { executionId, observation };
      await must(desk.call(who, 'deliveryExecutions.recordForgeObservation', params));
    }
  };
  await Promise.all(Array.from({ length: writers }, () => write(dice.another())));
  return written;
}

async function report(team: TestTeam, followers: readonly FeedFollower[], writes: number): Promise<Findings> {
  const violations: string[] = [];
  const total = (table: 'activity' | 'execution_events') =>
    countOf(team.database.owner, `${table} where org_id = $1`, [team.orgId]);
  let looks = 0;
  for (const follower of followers) {
    const { name } = follower;
    const followed = await follower.streams();
    violations.push(
      ...followed.flatMap(({ seen, all }) => differencesIn(seen, all).map((what) => `${name}: ${what}`)),
    );
    const events = followed.reduce((sum, { all }) => sum + all.length, 0);
    if (events < writes) violations.push(`${name} could see ${events} events of ${writes} writes`);
    looks += follower.pollCount();
  }
  const events = (await total('activity')) + (await total('execution_events'));
  return { violations, figures: { writers, events, followers: followers.length, looks } };
}

/** The minimum number of writes. Each write adds an event to the activity and an event to an execution. */
const leastWrites = 300;

export const feeds = property<number>({
  name: 'feeds',
  promise:
    'A caller that follows a stream while many write to it misses nothing, and sees nothing twice or out of order.',
  short: leastWrites,
  long: 10_000,
  run,
  controls: [
    {
      name: 'the activity is numbered by a sequence instead of a row that stays locked until the commit',
      leftTo: 'nx long',
      without: [bySequence],
    },
  ],
});
