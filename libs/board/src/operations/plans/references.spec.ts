/** Tests the references of plans, their limits, and who may apply plans. */
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
const preview = (items: Item[]) => apply(items, { mode: 'preview' });
const read = async (storyId: string) => (await ana.stories.get({ storyId })).story;
const refused = (reason: string, details: object = {}) => ({
  body: { details: { reason, ...details } },
});

describe('references', () => {
  it('can mean stories and epics outside the plan, and refs of earlier calls', async () => {
    const other = (await ana.stories.create({ projectId: 'WEB', title: 'Other', estimate: 5 })).story;
    const parent = (await ana.stories.create({ projectId: 'WEB', title: 'Parent' })).story;
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Epic' });
    await apply([{ ref: 'a', title: 'A' }]);
    const { waves, criticalPath } = await apply([
      { ref: 'b', title: 'B', dependsOn: ['a', '#web-1', other.id], parentRef: parent.key, epicRef: epic.id },
    ]);
    const [story, { changes }] = [await read('WEB-4'), await preview([{ ref: 'a', title: 'A' }])];
    expect(story).toMatchObject({ epicId: epic.id, parentId: parent.id });
    expect(story.blockedBy).toEqual([other.id, changes[0]?.storyId].sort());
    expect([waves, criticalPath]).toEqual([
      [['a'], ['b']],
      ['a', 'b'],
    ]);
  });

  it('are normalized as the refs that they mean', async () => {
    const { changes } = await apply(
      [
        { ref: 'Cafe\u0301 ', title: 'A' },
        { ref: 'b\u200b', title: 'B', parentRef: 'Cafe\u0301 ', epicRef: 'E\u200b ' },
        { ref: 'c', title: 'C', dependsOn: ['b\u200b', 'Cafe\u0301 '] },
      ],
      { epics: [{ ref: 'E\u200b ', title: 'Epic' }] },
    );
    expect(changes.map(({ ref }) => ref)).toEqual(['Caf\u00e9', 'b', 'c']);
    const [one, two, three] = [await read('WEB-1'), await read('WEB-2'), await read('WEB-3')];
    expect(two).toMatchObject({ parentId: one.id, epicId: expect.any(String) });
    expect(three.blockedBy).toEqual([one.id, two.id].sort());
  });

  it('are refused if nothing in the project has them', async () => {
    const apart = await arrangeBoard(world, people.orgId, { key: 'APP' });
    const { story } = await ana.stories.create({ projectId: apart.projectId, title: 'Elsewhere' });
    const { epic } = await ana.epics.create({ projectId: 'APP', title: 'Elsewhere' });
    const withItem = (more: Partial<Item>) => apply([{ ref: 'a', title: 'A', ...more }]);
    await expect(withItem({ dependsOn: ['b'] })).rejects.toMatchObject(
      refused('not_found', { path: 'items.0.dependsOn.0' }),
    );
    await expect(withItem({ parentRef: 'WEB-9' })).rejects.toMatchObject(
      refused('not_found', { path: 'items.0.parentRef' }),
    );
    await expect(withItem({ epicRef: newId() })).rejects.toMatchObject(
      refused('not_found', { path: 'items.0.epicRef' }),
    );
    await expect(withItem({ epicRef: 'auth' })).rejects.toMatchObject(
      refused('not_found', { path: 'items.0.epicRef' }),
    );
    await expect(withItem({ dependsOn: [story.key] })).rejects.toMatchObject(refused('mismatched_project'));
    await expect(withItem({ epicRef: epic.id })).rejects.toMatchObject(refused('mismatched_project'));
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('must not form a cycle, with or without stories outside the plan', async () => {
    const items: Item[] = [
      { ref: 'a', title: 'A', dependsOn: ['c'] },
      { ref: 'b', title: 'B', dependsOn: ['a'] },
      { ref: 'c', title: 'C', dependsOn: ['b'] },
    ];
    await expect(apply(items)).rejects.toMatchObject({
      status: 422,
      ...refused('dependency_cycle', { cycle: ['a', 'c', 'b', 'a'] }),
    });
    await expect(preview([{ ref: 'x', title: 'X', dependsOn: ['x'] }])).rejects.toMatchObject(
      refused('dependency_cycle', { cycle: ['x', 'x'] }),
    );
    await apply(
      items.map((item) => ({ ...item, dependsOn: item.ref === 'a' ? [] : (item.dependsOn ?? []) })),
    );
    const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Outside', blockedBy: ['WEB-3'] });
    const error = await apply([{ ref: 'a', title: 'A', dependsOn: [story.key] }]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject(refused('dependency_cycle'));
    const { cycle } = (error as { body: { details: { cycle: string[] } } }).body.details;
    expect(new Set(cycle)).toEqual(new Set(['a', 'b', 'c', 'WEB-4']));
    // A child that waits for its parent could never start.
    await expect(
      apply([
        { ref: 'p', title: 'P' },
        { ref: 'q', title: 'Q', parentRef: 'p', dependsOn: ['p'] },
      ]),
    ).rejects.toMatchObject(refused('dependency_cycle'));
  });

  it('nest stories one level deep', async () => {
    const nested: Item[] = [
      { ref: 'a', title: 'A' },
      { ref: 'b', title: 'B', parentRef: 'a' },
      { ref: 'c', title: 'C', parentRef: 'b' },
    ];
    await expect(apply(nested)).rejects.toMatchObject(refused('nested_parent', { ref: 'c' }));
    await expect(apply([{ ref: 'a', title: 'A', parentRef: 'a' }])).rejects.toMatchObject(
      refused('nested_parent'),
    );
    await apply(nested.slice(0, 2));
    await apply([{ ref: 'd', title: 'D' }]);
    await expect(apply([{ ref: 'a', title: 'A', parentRef: 'd' }])).rejects.toMatchObject(
      refused('has_children', { ref: 'a' }),
    );
  });
});

describe('access and limits', () => {
  it('lets contributors and their agents apply plans, and viewers read them', async () => {
    const params = { projectId: 'WEB', planRef: 'launch', items: [{ ref: 'a', title: 'A' }] };
    await people.robo.plans.apply(params);
    await expect(people.dan.plans.apply(params)).rejects.toMatchObject({ code: 'forbidden' });
    const { plan, items } = await people.dan.plans.get({ projectId: 'WEB', planRef: 'launch' });
    expect(plan).toMatchObject({ ref: 'launch', version: 1, appliedBy: { kind: 'agent' } });
    expect(items).toHaveLength(1);
  });

  it('keeps an agent from completing stories where the policy says so', async () => {
    await world.rows(`update orgs set policy = '{"agentsMayComplete": false}' where id = $1`, people.orgId);
    const params = {
      projectId: 'WEB',
      planRef: 'launch',
      items: [{ ref: 'a', title: 'A', status: 'done' as const }],
    };
    await people.robo.plans.apply(params);
    expect((await people.robo.plans.apply(params)).changes).toMatchObject([
      { action: 'keep', kept: [{ reason: 'policy' }] },
    ]);
    expect((await people.chloe.plans.apply(params)).changes).toMatchObject([{ action: 'update' }]);
  });

  it('names each ref once, and has at most 500 items over all calls', async () => {
    await expect(
      apply([
        { ref: 'a', title: 'A' },
        { ref: 'a', title: 'B' },
      ]),
    ).rejects.toMatchObject({ status: 400 });
    const items = Array.from({ length: 500 }, (_, index) => ({
      ...{ ref: `T${index}`, title: `Story ${index}`, estimate: 1 },
      dependsOn: index === 0 ? [] : [`T${Math.floor((index - 1) / 2)}`],
    }));
    const { changes, waves, criticalPath } = await apply(items);
    expect(new Set(changes.map(({ action }) => action))).toEqual(new Set(['create']));
    expect(waves.map((wave) => wave.length)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 245]);
    expect(criticalPath).toHaveLength(9);
    const again = await apply(items.map((item) => ({ ...item, estimate: 2 })));
    expect(new Set(again.changes.map(({ action }) => action))).toEqual(new Set(['update']));
    await expect(apply([{ ref: 'new', title: 'New' }])).rejects.toMatchObject(
      refused('limit_exceeded', { limit: 500 }),
    );
  }, 60_000);
});
