/** Four workers work off a plan of 30 stories in waves, without conflicts. Only signed merges unblock the next stories. */
import { beforeEach, expect, it } from '@jest/globals';
import { internalBoardHandlers } from '@muster/board';
import { internalHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { observeAsForge } from './forge-observations.ts';

const world = useWorld(
  { ...handlers, insideBoard: internalBoardHandlers, insideHandlers: internalHandlers },
  reactions,
);

const storyCount = 30;
/** Stories wait for one or two earlier ones, and two stories of a wave can touch the same folder. */
const items = Array.from({ length: storyCount }, (_, index) => ({
  ...{ ref: `T${index}`, title: `Task ${index}`, touches: [`src/part-${index % 3}/**`] },
  ...{ status: 'ready' as const },
  dependsOn: index < 5 ? [] : [...new Set([index - 5, Math.floor(index / 2)])].map((other) => `T${other}`),
}));

let people: PeopleOf<typeof world>;
let projectId: string;

beforeEach(async () => {
  people = await world.org({ policy: { requireMergeProof: true, mergeProof: 'verified' } });
  ({
    project: { id: projectId },
  } = await people.chloe.projects.create({
    ...{ key: 'WEB', name: 'Web', visibility: 'org' },
  }));
});

/** Takes the next story; null if nothing can start without a conflict. */
const takeNext = async (who: PersonOf<typeof world>, runId: string) => {
  const answer = await who.deliveryExecutions.acquireNext({ projectId, runId, avoidConflicts: true });
  if (answer.execution === null) return null;
  const { id: executionId, targetId: storyId } = answer.execution;
  return { who, storyId, executionId, leaseToken: answer.leaseToken ?? '' };
};
type TakenStory = NonNullable<Awaited<ReturnType<typeof takeNext>>>;

/** Submits the work and records its merge as a connected forge does. */
async function land({ who, executionId, leaseToken }: TakenStory, number: number): Promise<void> {
  const url = `https://example.com/pull/${number}`;
  const pullRequest = { number, url };
  await who.deliveryExecutions.complete({ executionId, leaseToken, outcome: 'submitted', pullRequest });
  const observedAt = '2026-11-21T09:30:00.000Z';
  const observation = { ...pullRequest, observedAt, dedupeKey: url, kind: 'pr_merged' as const };
  await observeAsForge(
    world,
    { orgId: people.orgId, projectId },
    { executionId, observation, trust: 'verified' },
  );
}

const unblockedIds = async (): Promise<string[]> =>
  (await people.ana.activity.list({ kinds: ['story.unblocked'], limit: 200 })).items.map(
    ({ subject }) => subject.id,
  );

it('is worked off by four workers, wave by wave', async () => {
  const apply = () => people.chloe.plans.apply({ projectId, planRef: 'launch', items });
  const { changes } = await apply();
  expect((await apply()).changes.map(({ action }) => action)).toEqual(items.map(() => 'unchanged'));
  const itemById = new Map(changes.map(({ storyId }, index) => [storyId ?? '', items[index]]));
  const doneRefs = new Set<string>();
  /** The ids of stories that were blocked and have no open blocker now. */
  const expectUnblocked = () =>
    [...itemById].flatMap(([id, item]) =>
      item !== undefined && item.dependsOn.length > 0 && item.dependsOn.every((ref) => doneRefs.has(ref))
        ? [id]
        : [],
    );
  const workers = [people.ana, people.ben, people.chloe, people.robo];
  let pullNumber = 0;
  while (doneRefs.size < storyCount) {
    const taken = (
      await Promise.all(workers.map((who, nth) => takeNext(who, `run-${nth}-${pullNumber}`)))
    ).flatMap((one) => one ?? []);
    const current = taken.map(({ storyId }) => itemById.get(storyId));
    expect(current.length).toBeGreaterThan(0);
    const folders = current.map((item) => item?.touches[0]);
    expect(new Set(folders).size).toBe(folders.length);
    for (const item of current) expect(item?.dependsOn.filter((ref) => !doneRefs.has(ref))).toEqual([]);
    for (const one of taken) {
      await land(one, (pullNumber += 1));
      doneRefs.add(itemById.get(one.storyId)?.ref ?? '');
      expect((await unblockedIds()).toSorted()).toEqual(expectUnblocked().toSorted());
    }
  }
  const { progress, waves } = await people.ana.plans.get({ projectId, planRef: 'launch' });
  expect([progress, waves]).toEqual([{ total: storyCount, done: storyCount }, []]);
});
