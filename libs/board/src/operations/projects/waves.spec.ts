import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);
let people: PeopleOf<typeof world>;
let ana: PersonOf<typeof world>;

type ApplyParams = InputOf<typeof boardRegistry.plans.apply>;
type Item = ApplyParams['items'][number];

beforeEach(async () => {
  people = await world.org();
  await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const apply = (items: Item[], more: Partial<ApplyParams> = {}) =>
  ana.plans.apply({ projectId: 'WEB', planRef: 'launch', items, ...more });
const refused = (reason: string, details: object = {}) => ({
  body: { details: { reason, ...details } },
});

describe('projects.waves', () => {
  const keysOf = (waves: readonly { index: number; count: number; stories: readonly { key: string }[] }[]) =>
    waves.map(({ index, count, stories }) => [index, count, stories.map(({ key }) => key)]);

  it('shows which open stories can run now, and which come next', async () => {
    const { plan } = await apply([
      { ref: 'a', title: 'A', estimate: 2 },
      { ref: 'b', title: 'B', dependsOn: ['a'], estimate: 3 },
      { ref: 'c', title: 'C', dependsOn: ['a'] },
      { ref: 'd', title: 'D', dependsOn: ['b', 'c'] },
    ]);
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Epic' });
    await ana.stories.create({ projectId: 'WEB', title: 'E', blockedBy: ['WEB-4'], epicId: epic.id });
    await ana.stories.updateStatus({
      storyId: (await ana.stories.create({ projectId: 'WEB', title: 'F' })).story.id,
      status: 'done',
    });
    const all = await ana.projects.waves({ projectId: 'WEB' });
    expect(keysOf(all.waves)).toEqual([
      [0, 1, ['WEB-1']],
      [1, 2, ['WEB-2', 'WEB-3']],
      [2, 1, ['WEB-4']],
      [3, 1, ['WEB-5']],
    ]);
    expect(all).toMatchObject({ criticalPath: ['WEB-1', 'WEB-2', 'WEB-4', 'WEB-5'], blocked: 4 });
    expect(all.waves[1]?.stories[0]).toMatchObject({ title: 'B', estimate: 3, counts: { openBlockers: 1 } });

    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    const ofPlan = await ana.projects.waves({ projectId: 'WEB', planId: plan.id ?? '', limit: 2 });
    expect(keysOf(ofPlan.waves)).toEqual([
      [0, 2, ['WEB-2', 'WEB-3']],
      [1, 1, []],
    ]);
    expect(ofPlan).toMatchObject({ criticalPath: ['WEB-2', 'WEB-4'], blocked: 1 });
    const ofEpic = await ana.projects.waves({ projectId: 'WEB', epicId: epic.id });
    expect([keysOf(ofEpic.waves), ofEpic.criticalPath, ofEpic.blocked]).toEqual([
      [[2, 1, ['WEB-5']]],
      ['WEB-5'],
      1,
    ]);
  });

  it('refuses epics and plans of other projects', async () => {
    const { plan } = await apply([{ ref: 'a', title: 'A' }]);
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Epic' });
    await arrangeBoard(world, people.orgId, { key: 'APP' });
    for (const [path, params] of [
      ['epicId', { epicId: epic.id }],
      ['planId', { planId: plan.id ?? '' }],
    ] as const)
      await expect(ana.projects.waves({ projectId: 'APP', ...params })).rejects.toMatchObject(
        refused('not_found', { path }),
      );
    expect(await ana.projects.waves({ projectId: 'APP' })).toEqual({
      waves: [],
      criticalPath: [],
      blocked: 0,
    });
  });
});
