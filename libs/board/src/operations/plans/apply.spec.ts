import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { boardHandlers, unblockReactions } from '../../index.ts';

const world = useWorld(boardHandlers, [unblockReactions]);
let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;

type ApplyParams = InputOf<typeof boardRegistry.plans.apply>;
type Item = ApplyParams['items'][number];

beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const apply = (items: Item[], more: Partial<ApplyParams> = {}) =>
  ana.plans.apply({ projectId: 'WEB', planRef: 'launch', items, ...more });
const preview = (items: Item[], more: Partial<ApplyParams> = {}) =>
  apply(items, { mode: 'preview', ...more });
const applyAndListActions = async (items: Item[], more: Partial<ApplyParams> = {}) =>
  (await apply(items, more)).changes.map(({ ref, action }) => `${ref} ${action}`);
const getStory = async (storyId: string) => (await ana.stories.get({ storyId })).story;
const expectedRefusal = (reason: string, details: object = {}) => ({
  body: { details: { reason, ...details } },
});
const listEventKinds = async () =>
  (
    await world.rows<{ kind: string }>(
      'select kind from activity where org_id = $1 order by seq',
      people.orgId,
    )
  ).map(({ kind }) => kind);

const tables = [
  'stories',
  'epics',
  'story_specs',
  'story_blockers',
  'plans',
  'plan_items',
  'activity',
  'audit',
];
const everything = () =>
  Promise.all(
    tables.map((table) =>
      world.rows(
        `select to_jsonb(t) as row from ${table} t where org_id = $1 order by t::text`,
        people.orgId,
      ),
    ),
  );

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

describe('plans.apply', () => {
  it('creates stories and epics with everything that the plan says', async () => {
    const { plan, changes, epics: epicChanges, waves, criticalPath } = await apply(threeItems, { epics });
    expect(plan).toEqual({ id: expect.any(String), ref: 'launch', version: 1 });
    expect(changes.map(({ ref, action, key, kept }) => [ref, action, key, kept])).toEqual([
      ['T001', 'create', 'WEB-1', []],
      ['T002', 'create', 'WEB-2', []],
      ['T003', 'create', 'WEB-3', []],
    ]);
    expect(changes[2]?.fields).toEqual(['title']);
    expect(epicChanges).toMatchObject([
      { ref: 'auth', action: 'create', fields: ['title', 'targetDate'], kept: [] },
    ]);
    expect(waves).toEqual([['T003'], ['T002'], ['T001']]);
    expect(criticalPath).toEqual(['T003', 'T002', 'T001']);
    const [parent, , blocker] = changes.map(({ storyId }) => storyId);
    expect(await getStory('WEB-2')).toMatchObject({
      ...{ title: 'Sign in', description: 'As a guest', status: 'ready', columnId: board.columns.ready },
      ...{ epicId: epicChanges[0]?.epicId, parentId: parent, blockedBy: [blocker], touches: ['src/auth'] },
      ...{
        estimate: 3,
        priority: 'high',
        labels: ['auth'],
        dueDate: '2027-01-31',
        specVersion: 1,
        version: 1,
      },
      createdBy: { kind: 'member', name: 'Ana' },
    });
    expect((await ana.storySpec.get({ storyId: 'WEB-2' })).spec.content).toBe('# Sign in\n');
    expect((await ana.epics.list({ projectId: 'WEB' })).items).toMatchObject([
      { title: 'Accounts and sign-in', targetDate: '2027-02-28', progress: { total: 1, done: 0 } },
    ]);
    expect(await listEventKinds()).toEqual([
      ...['epic.created', 'story.created', 'story.created', 'spec.updated', 'story.created'],
    ]);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
    // The next story has the next number.
    expect((await ana.stories.create({ projectId: 'WEB', title: 'x' })).story.key).toBe('WEB-4');
  });

  it('changes nothing when it is applied again', async () => {
    const first = await apply(threeItems, { epics });
    const before = await everything();
    const again = await apply(threeItems, { epics, prune: true });
    expect(again.changes.map(({ action, fields, kept }) => [action, fields, kept])).toEqual(
      threeItems.map(() => ['unchanged', [], []]),
    );
    expect(again.changes.map(({ storyId }) => storyId)).toEqual(first.changes.map(({ storyId }) => storyId));
    expect(again.epics).toMatchObject([{ action: 'unchanged' }]);
    expect([again.plan, again.waves, again.criticalPath]).toEqual([
      first.plan,
      first.waves,
      first.criticalPath,
    ]);
    expect(await everything()).toEqual(before);
  });

  it('answers the same in a preview, and writes nothing', async () => {
    const before = await everything();
    const previewed = await preview(threeItems, { epics });
    expect(await everything()).toEqual(before);
    const applied = await apply(threeItems, { epics });
    expect(previewed).toEqual({
      ...applied,
      plan: { id: null, ref: 'launch', version: 0 },
      changes: applied.changes.map((change) => ({ ...change, storyId: null, key: null })),
      epics: applied.epics.map((change) => ({ ...change, epicId: null })),
    });
    const changed = [{ ref: 'T001', title: 'Members' }];
    const state = await everything();
    const wanted = await preview(changed, { prune: true });
    expect(wanted.changes.map(({ ref, action }) => `${ref} ${action}`)).toEqual([
      ...['T001 update', 'T002 remove', 'T003 remove'],
    ]);
    expect(await everything()).toEqual(state);
    expect((await apply(changed, { prune: true })).changes).toEqual(wanted.changes);
  });

  it('follows the plan where the board is as it was left, and keeps what was changed on the board', async () => {
    await apply(threeItems, { epics });
    await ana.stories.update({ storyId: 'WEB-2', title: 'Log in', estimate: 8, blockedBy: [] });
    await ana.storySpec.update({ storyId: 'WEB-2', content: '# Mine\n', baseVersion: 1 });
    const changed: Item = {
      ...{
        ...fullItem,
        title: 'Sign in with a key',
        estimate: 5,
        spec: '# Theirs\n',
        dependsOn: ['T001', 'T003'],
      },
      ...{
        parentRef: null,
        description: 'As a member',
        priority: 'low',
        labels: [],
        dueDate: null,
        epicRef: null,
      },
    };
    const { changes } = await apply([changed]);
    expect(changes).toMatchObject([
      {
        ...{ ref: 'T002', action: 'update' },
        fields: ['description', 'epicRef', 'parentRef', 'priority', 'labels', 'dueDate'],
        kept: ['title', 'spec', 'dependsOn', 'estimate'].map((field) => ({ field, reason: 'changed' })),
      },
    ]);
    const story = await getStory('WEB-2');
    expect(story).toMatchObject({
      ...{ title: 'Log in', estimate: 8, blockedBy: [], specVersion: 2 },
      ...{
        description: 'As a member',
        epicId: null,
        parentId: null,
        priority: 'low',
        labels: [],
        dueDate: null,
      },
    });
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
    // Each apply reports the conflict until the board has the value of the plan.
    expect(await applyAndListActions([changed])).toEqual(['T002 keep']);
    expect(await getStory('WEB-2')).toEqual(story);
    await ana.stories.update({
      storyId: 'WEB-2',
      title: changed.title,
      estimate: 5,
      blockedBy: ['WEB-1', 'WEB-3'],
    });
    await ana.storySpec.update({ storyId: 'WEB-2', content: '# Theirs\n', baseVersion: 2 });
    expect(await applyAndListActions([changed])).toEqual(['T002 unchanged']);
    expect(
      await applyAndListActions([{ ...changed, title: 'Third', spec: '# Third\n', dependsOn: [] }]),
    ).toEqual(['T002 update']);
    expect(await getStory('WEB-2')).toMatchObject({ title: 'Third', specVersion: 4, blockedBy: [] });
  });

  it('creates each story once when two calls meet', async () => {
    const results = await Promise.all([apply(threeItems, { epics }), apply(threeItems, { epics })]);
    const seen = results.map(({ changes }) => changes.map(({ action }) => action));
    expect(new Set(seen.flat())).toEqual(new Set(['create', 'unchanged']));
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toHaveLength(3);
    expect(results[0].changes.map(({ storyId }) => storyId)).toEqual(
      results[1].changes.map(({ storyId }) => storyId),
    );
  });

  it('leaves omitted fields alone', async () => {
    await apply(threeItems, { epics });
    const before = await getStory('WEB-2');
    expect(await applyAndListActions([{ ref: 'T002', title: fullItem.title }])).toEqual(['T002 unchanged']);
    expect(await getStory('WEB-2')).toEqual(before);
  });

  it('does not create again what was deleted on the board', async () => {
    await apply(threeItems, { epics });
    await ana.stories.delete({ storyId: 'WEB-3' });
    const { items } = await ana.epics.list({ projectId: 'WEB' });
    await ana.epics.delete({ epicId: items[0]?.id ?? '' });
    const { changes, epics: epicChanges } = await apply(
      [...threeItems, { ...fullItem, ref: 'T004', title: 'More' }],
      {
        epics,
      },
    );
    expect(changes).toMatchObject([
      { action: 'unchanged' },
      {
        action: 'keep',
        kept: [
          { field: 'dependsOn', reason: 'deleted' },
          { field: 'epicRef', reason: 'deleted' },
        ],
      },
      { action: 'keep', storyId: null, key: null, kept: [{ field: 'ref', reason: 'deleted' }] },
      {
        action: 'create',
        kept: [
          { field: 'dependsOn', reason: 'deleted' },
          { field: 'epicRef', reason: 'deleted' },
        ],
      },
    ]);
    expect(epicChanges).toMatchObject([{ action: 'keep', epicId: null, kept: [{ reason: 'deleted' }] }]);
    expect(await getStory('WEB-4')).toMatchObject({ epicId: null, blockedBy: [] });
  });

  it('starts new stories in backlog or ready, and changes the status through the gates', async () => {
    await world.rows(`update orgs set policy = '{"requireSpecToStart": true}' where id = $1`, people.orgId);
    const wanted = (status: Item['status'], more: Partial<Item> = {}): Item[] => [
      { ref: 'a', title: 'A', status, ...more },
    ];
    const first = await apply(wanted('in_progress'));
    expect(first.changes).toMatchObject([
      { action: 'create', kept: [{ field: 'status', reason: 'new_story' }] },
    ]);
    expect(await getStory('WEB-1')).toMatchObject({ status: 'backlog' });
    const second = await apply(wanted('in_progress'));
    expect(second.changes).toMatchObject([
      {
        action: 'keep',
        kept: [{ field: 'status', reason: 'policy', message: expect.stringContaining('requireSpecToStart') }],
      },
    ]);
    // The spec that comes with the status counts.
    expect(await applyAndListActions(wanted('in_progress', { spec: '# A\n' }))).toEqual(['a update']);
    expect(await getStory('WEB-1')).toMatchObject({
      status: 'in_progress',
      columnId: board.columns.in_progress,
    });
    expect(await applyAndListActions(wanted('done'))).toEqual(['a update']);
    expect(await getStory('WEB-1')).toMatchObject({ status: 'done', completedAt: expect.any(String) });
    expect(await applyAndListActions(wanted('canceled'))).toEqual(['a keep']);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
  });

  it('respects the limits of columns that the policy enforces', async () => {
    await world.rows(`update orgs set policy = '{"wipLimits": "block"}' where id = $1`, people.orgId);
    await world.rows('update board_columns set wip_limit = 1 where id = $1', board.columns.ready);
    const items: Item[] = ['a', 'b'].map((ref) => ({ ref, title: ref, status: 'ready' }));
    expect((await apply(items)).changes).toMatchObject([
      { action: 'create', kept: [] },
      { action: 'create', kept: [{ field: 'status', reason: 'wip_limit' }] },
    ]);
    expect(await applyAndListActions(items)).toEqual(['a unchanged', 'b keep']);
    // A story that leaves the column makes room for the next.
    expect(await applyAndListActions([{ ref: 'a', title: 'a', status: 'done' }, ...items.slice(1)])).toEqual([
      ...['a update', 'b update'],
    ]);
    await world.rows('update board_columns set wip_limit = 1 where id = $1', board.columns.backlog);
    await expect(
      apply([
        { ref: 'c', title: 'c' },
        { ref: 'd', title: 'd' },
      ]),
    ).rejects.toMatchObject(expectedRefusal('wip_limit', { limit: 1 }));
  });

  it('tells who waits that the last blocker is finished', async () => {
    await apply([
      { ref: 'a', title: 'A' },
      { ref: 'b', title: 'B', dependsOn: ['a'] },
    ]);
    await apply([{ ref: 'a', title: 'A', status: 'done' }]);
    expect((await listEventKinds()).slice(2)).toEqual(['story.statusChanged', 'story.unblocked']);
  });

  it('closes a parent behind its last child, if the policy says so', async () => {
    await world.rows(`update orgs set policy = '{"closeParents": true}' where id = $1`, people.orgId);
    const items: Item[] = [
      { ref: 'parent', title: 'Parent' },
      ...['a', 'b'].map((ref) => ({ ref, title: ref, parentRef: 'parent' })),
    ];
    await apply(items);
    await apply(items.slice(1).map((item) => ({ ...item, status: 'done' as const })));
    expect(await getStory('WEB-1')).toMatchObject({ status: 'done' });
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
  });

  it('closes a parent that its last open child leaves, if the policy says so', async () => {
    await world.rows(`update orgs set policy = '{"closeParents": true}' where id = $1`, people.orgId);
    const items: Item[] = [
      { ref: 'parent', title: 'Parent' },
      ...['a', 'b'].map((ref) => ({ ref, title: ref, parentRef: 'parent' })),
    ];
    await apply(items);
    await ana.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    await apply([{ ref: 'b', title: 'b', parentRef: null }]);
    expect(await getStory('WEB-1')).toMatchObject({ status: 'done' });
  });

  it('reports a deleted blocker', async () => {
    const items: Item[] = [
      ...['a', 'b'].map((ref) => ({ ref, title: ref })),
      { ref: 'c', title: 'c', dependsOn: ['a', 'b'] },
    ];
    await apply(items);
    await ana.stories.delete({ storyId: 'WEB-1' });
    const { changes } = await apply(items.slice(2));
    expect(changes).toMatchObject([
      { ref: 'c', action: 'keep', fields: [], kept: [{ field: 'dependsOn', reason: 'deleted' }] },
    ]);
    expect((await getStory('WEB-3')).blockedBy).toEqual([(await getStory('WEB-2')).id]);
  });

  it('changes nothing for an estimate of minus zero', async () => {
    const items: Item[] = [{ ref: 'a', title: 'a', estimate: -0 }];
    await apply(items);
    expect(await applyAndListActions(items)).toEqual(['a unchanged']);
    await ana.stories.update({ storyId: 'WEB-1', estimate: -0 });
    expect(await getStory('WEB-1')).toMatchObject({ estimate: 0, version: 1 });
  });
});

describe('prune', () => {
  const work = (storyId: string) =>
    world.rows(
      `insert into executions (org_id, id, project_id, target_type, target_id, state, attempt, epoch, spec_version)
         values ($1, $2, $3, 'story', $4, 'available', 1, 1, 0)`,
      ...[people.orgId, newId(), board.projectId, storyId],
    );

  it('cancels stories whose ref is gone, unless someone works on them or they are finished', async () => {
    const refs = ['gone', 'worked', 'started', 'done', 'deleted', 'stays'];
    const { changes } = await apply(refs.map((ref) => ({ ref, title: ref })));
    await work(changes[1]?.storyId ?? '');
    await ana.stories.updateStatus({ storyId: 'WEB-3', status: 'in_progress' });
    await ana.stories.updateStatus({ storyId: 'WEB-4', status: 'done' });
    await ana.stories.delete({ storyId: 'WEB-5' });
    const items = [{ ref: 'stays', title: 'stays' }];
    expect(await applyAndListActions(items)).toEqual(['stays unchanged']);
    const pruned = await apply(items, { prune: true });
    expect(pruned.changes).toMatchObject([
      { ref: 'stays', action: 'unchanged' },
      { ref: 'gone', action: 'remove', key: 'WEB-1', fields: ['status'] },
      { ref: 'worked', action: 'keep', key: 'WEB-2', kept: [{ field: 'status', reason: 'worked_on' }] },
      { ref: 'started', action: 'keep', key: 'WEB-3', kept: [{ reason: 'worked_on' }] },
      { ref: 'done', action: 'remove', key: 'WEB-4', fields: [] },
      { ref: 'deleted', action: 'remove', storyId: null, key: null },
    ]);
    expect(await getStory('WEB-1')).toMatchObject({ status: 'canceled', columnId: null, version: 2 });
    expect(await getStory('WEB-4')).toMatchObject({ status: 'done' });
    expect((await listEventKinds()).at(-1)).toBe('story.statusChanged');
    expect(await applyAndListActions(items, { prune: true })).toEqual([
      'stays unchanged',
      'worked keep',
      'started keep',
    ]);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
    // A ref that comes back is a new story.
    expect(await applyAndListActions([{ ref: 'gone', title: 'gone' }])).toEqual(['gone create']);
  });

  it('drops epics that the plan no longer names, and leaves them on the board', async () => {
    const named = ['one', 'two', 'three'].map((ref) => ({ ref, title: ref, color: null }));
    const items = [{ ref: 'a', title: 'A', epicRef: 'two' }];
    const { epics: created } = await apply(items, { epics: named });
    expect(created.map(({ fields }) => fields)).toEqual([['title'], ['title'], ['title']]);
    expect((await apply(items, { epics: named.slice(0, 1) })).epics).toMatchObject([{ action: 'unchanged' }]);
    const pruned = await apply(items, { epics: named.slice(0, 1), prune: true });
    expect(pruned.epics).toMatchObject([
      { ref: 'one', action: 'unchanged' },
      { ref: 'three', action: 'remove', epicId: created[2]?.epicId },
    ]);
    expect(pruned.plan.version).toBe(2);
    const again = await apply(items, { epics: named.slice(0, 1), prune: true });
    expect([again.epics.length, again.plan.version]).toEqual([1, 2]);
    expect((await ana.epics.list({ projectId: 'WEB' })).items).toHaveLength(3);
    const unnamed = [{ ref: 'b', title: 'B', epicRef: 'three' }];
    await expect(apply(unnamed)).rejects.toMatchObject(
      expectedRefusal('not_found', { path: 'items.0.epicRef' }),
    );
  });
});
