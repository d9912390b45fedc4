import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
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

const fullItem: Item = {
  ...{ ref: 'T002', title: 'Sign in', description: 'As a guest', spec: '# Sign in\n', status: 'ready' },
  ...{ epicRef: 'auth', parentRef: 'T001', dependsOn: ['T003'], touches: ['./src/auth/'], estimate: 3 },
  ...{ priority: 'high', labels: ['auth'], dueDate: '2027-01-31' },
};
const threeItems: Item[] = [
  { ref: 'T001', title: 'Accounts' },
  fullItem,
  { ref: 'T003', title: 'Store keys' },
];
const epics = [{ ref: 'auth', title: 'Accounts and sign-in', targetDate: '2027-02-28' }];

describe('plans.get and plans.list', () => {
  it('show the stories in the order of the plan, and what is left to do', async () => {
    const { plan } = await apply(threeItems, { epics });
    await ana.stories.create({ projectId: 'WEB', title: 'Outside' });
    await ana.stories.update({ storyId: 'WEB-3', blockedBy: ['WEB-4'] });
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    const shown = await ana.plans.get({ planId: plan.id ?? '' });
    expect(shown.items).toMatchObject([
      { ref: 'T001', key: 'WEB-1', status: 'canceled', dependsOn: [] },
      { ref: 'T002', key: 'WEB-2', status: 'ready', title: 'Sign in', estimate: 3, dependsOn: ['T003'] },
      { ref: 'T003', key: 'WEB-3', status: 'backlog', dependsOn: ['WEB-4'] },
    ]);
    expect(shown).toMatchObject({
      waves: [['T003'], ['T002']],
      criticalPath: ['T003', 'T002'],
      progress: { total: 2, done: 0 },
    });
    await ana.stories.updateStatus({ storyId: 'WEB-3', status: 'done' });
    expect(await ana.plans.get({ projectId: 'WEB', planRef: 'launch' })).toMatchObject({
      ...{
        plan: { id: plan.id },
        waves: [['T002']],
        criticalPath: ['T002'],
        progress: { total: 2, done: 1 },
      },
    });
    await ana.stories.delete({ storyId: 'WEB-3' });
    const { items, progress } = await ana.plans.get({ projectId: 'web', planId: plan.id ?? '' });
    expect(items[2]).toEqual({
      ...{ ref: 'T003', storyId: null, key: null, title: null },
      ...{ status: null, estimate: null, dependsOn: [] },
    });
    expect(progress).toEqual({ total: 1, done: 0 });
  });

  it('find a plan only by its own project', async () => {
    const { plan } = await apply(threeItems, { epics });
    await arrangeBoard(world, people.orgId, { key: 'APP' });
    const lookUp = (params: InputOf<typeof boardRegistry.plans.get>) => ana.plans.get(params);
    await expect(lookUp({ projectId: 'APP', planRef: 'launch' })).rejects.toMatchObject(
      refused('not_found', { path: 'planRef' }),
    );
    await expect(lookUp({ projectId: 'APP', planId: plan.id ?? '' })).rejects.toMatchObject(
      refused('not_found'),
    );
    await expect(lookUp({ planId: newId() })).rejects.toMatchObject(refused('not_found', { path: 'planId' }));
    await expect(lookUp({ projectId: 'APP' })).rejects.toMatchObject({ status: 400 });
    const { orgId } = await world.org();
    const stranger = await world.member(orgId, 'Eve', 'admin');
    await expect(stranger.plans.get({ planId: plan.id ?? '' })).rejects.toMatchObject({ status: 404 });
  });

  it('list the plans of a project, newest first, in pages', async () => {
    for (const planRef of ['one', 'two', 'three']) await apply([{ ref: 'a', title: planRef }], { planRef });
    const first = await ana.plans.list({ projectId: 'WEB', limit: 2 });
    expect(first.items.map(({ ref }) => ref)).toEqual(['three', 'two']);
    const rest = await ana.plans.list({ projectId: 'WEB', limit: 2, cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ ref: 'one' }], nextCursor: null });
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toHaveLength(3);
  });
});
