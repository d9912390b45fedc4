import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
let stories: readonly string[];
beforeEach(async () => {
  ({ people, stories } = await arrangeStories(world, { count: 4 }));
});

const storyAt = (index: number): string => stories[index] ?? '';
const create = async (
  storyIds: readonly string[],
  who: PersonOf<typeof world> = people.chloe,
  name = 'Sign-in',
) => (await who.deliveryGroups.create({ projectId: 'WEB', name, storyIds: [...storyIds] })).group;
const acquireTarget = (
  who: PersonOf<typeof world>,
  targetType: 'story' | 'delivery_group',
  targetId: string,
  runId?: string,
) => who.deliveryExecutions.acquire({ targetType, targetId, ...(runId !== undefined && { runId }) });
const expire = (unitId: string) =>
  world.rows(
    `update leases set expires_at = now() - interval '1 s' where org_id = $1 and unit_id = $2`,
    people.orgId,
    unitId,
  );

/** Finds stories whose holder differs from the holder of their group's work. The result must be empty. */
const rivals = () =>
  world.rows(
    `select m.story_id from delivery_group_stories m
     join leases g on g.org_id = m.org_id and g.unit_type = 'delivery_group' and g.unit_id = m.group_id
     join leases s on s.org_id = m.org_id and s.unit_type = 'story' and s.unit_id = m.story_id
     where m.org_id = $1 and m.open and g.state = 'held' and s.state = 'held'
       and (g.member_id, g.agent_id, g.run_id) is distinct from (s.member_id, s.agent_id, s.run_id)`,
    people.orgId,
  );

describe('deliveryGroups.create', () => {
  it('puts stories together in the order named, by id or by key', async () => {
    const group = await create(['web-2', storyAt(0)]);
    expect(group).toMatchObject({
      state: 'draft',
      mergeStrategy: 'per_story',
      storyIds: [storyAt(1), storyAt(0)],
      progress: { total: 2, done: 0, landed: 0, blocked: 0 },
      lease: null,
      checkpoint: null,
      git: null,
      upstream: null,
      version: 1,
    });
    expect((await people.dan.deliveryGroups.get({ groupId: group.id })).group).toEqual(group);
    expect((await people.dan.deliveryGroups.getForStory({ storyId: 'WEB-2' })).group).toEqual(group);
    expect((await people.dan.deliveryGroups.getForStory({ storyId: 'WEB-3' })).group).toBeNull();
  });

  it('names the group that a story is in', async () => {
    const first = await create(['WEB-1', 'WEB-2'], people.chloe, 'First');
    await expect(create(['WEB-3', 'WEB-2'])).rejects.toMatchObject({
      status: 409,
      body: {
        details: {
          reason: 'in_active_group',
          groupId: first.id,
          name: 'First',
          storyId: storyAt(1),
          storyKey: 'WEB-2',
          stories: [{ storyKey: 'WEB-2' }],
        },
      },
    });
    await people.chloe.deliveryGroups.update({ groupId: first.id, state: 'abandoned' });
    expect((await create(['WEB-3', 'WEB-2'])).storyIds).toEqual([storyAt(2), storyAt(1)]);
  });

  it('takes each story once, however it is named', async () => {
    for (const storyIds of [
      ['WEB-1', 'web-1'],
      ['WEB-1', storyAt(0)],
    ]) {
      await expect(create(storyIds)).rejects.toMatchObject({ status: 400 });
    }
    await expect(create(['WEB-2', 'WEB-1', storyAt(0)])).rejects.toMatchObject({
      body: {
        details: { issues: [{ path: 'storyIds[2]', message: 'names the same story as storyIds[1]' }] },
      },
    });
  });

  it('tells a story of another project from one that is not there for the caller', async () => {
    const [docs, hidden] = [newId(), newId()];
    for (const [id, key, sees] of [
      [docs, 'DOCS', 'org'],
      [hidden, 'HID', 'private'],
    ]) {
      await world.rows(
        `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
        people.orgId,
        id,
        key,
        sees,
      );
      await world.rows(
        `insert into stories (org_id, id, project_id, number, title, status, rank, created_by)
         values ($1, $2, $3, 1, 'Elsewhere', 'canceled', 'a0', '{}')`,
        people.orgId,
        newId(),
        id,
      );
    }
    await expect(create(['DOCS-1'])).rejects.toMatchObject({ status: 422, reason: 'mismatched_project' });
    for (const ref of ['HID-1', 'WEB-99', 'NOPE-1', newId()]) {
      await expect(create(['WEB-1', ref])).rejects.toMatchObject({ status: 404 });
    }
  });

  it('lets exactly one of two have a story', async () => {
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: storyAt(0) },
      () => create(['WEB-1', 'WEB-2'], people.chloe, 'Hers'),
      () => create(['WEB-3', 'WEB-1'], people.ben, 'His'),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(lost?.reason).toMatchObject({ reason: 'in_active_group' });
    expect((await people.dan.deliveryGroups.list({ projectId: 'WEB' })).items).toHaveLength(1);
  });
});

describe('deliveryGroups.list', () => {
  it('pages through the groups of a project, newest first, or those of a state', async () => {
    const groups = [];
    for (const key of ['WEB-1', 'WEB-2', 'WEB-3']) groups.unshift(await create([key], people.chloe, key));
    await people.chloe.deliveryGroups.update({ groupId: groups[1]?.id ?? '', state: 'active' });
    const first = await people.dan.deliveryGroups.list({ projectId: 'web', limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual(['WEB-3', 'WEB-2']);
    const cursor = first.nextCursor ?? '';
    const second = await people.dan.deliveryGroups.list({ projectId: 'WEB', limit: 2, cursor });
    expect([second.items.map(({ name }) => name), second.nextCursor]).toEqual([['WEB-1'], null]);
    const drafts = await people.dan.deliveryGroups.list({ projectId: 'WEB', state: 'draft' });
    expect(drafts.items.map(({ name }) => name)).toEqual(['WEB-3', 'WEB-1']);
  });
});

describe('deliveryGroups.replaceStories', () => {
  it('says what came and what went, and changes nothing where nothing does', async () => {
    const { id: groupId } = await create(['WEB-1', 'WEB-2']);
    const replace = (storyIds: string[], expectedVersion?: number) =>
      people.ben.deliveryGroups.replaceStories({
        groupId,
        storyIds,
        ...(expectedVersion !== undefined && { expectedVersion }),
      });
    const { group, added, removed } = await replace(['WEB-3', 'WEB-2']);
    expect([added, removed]).toEqual([[storyAt(2)], [storyAt(0)]]);
    expect(group).toMatchObject({ storyIds: [storyAt(2), storyAt(1)], version: 2 });
    const turned = await replace(['WEB-2', 'WEB-3'], 2);
    expect([turned.added, turned.removed, turned.group.version]).toEqual([[], [], 3]);
    expect(turned.group.storyIds).toEqual([storyAt(1), storyAt(2)]);
    expect((await replace(['WEB-2', 'WEB-3'])).group.version).toBe(3);
    await expect(replace(['WEB-1'], 2)).rejects.toMatchObject({
      reason: 'version_mismatch',
      body: { details: { currentVersion: 3 } },
    });
    await people.ben.deliveryGroups.update({ groupId, state: 'abandoned' });
    await expect(replace(['WEB-1'])).rejects.toMatchObject({ reason: 'invalid_transition' });
  });

  it('is not for others while somebody coordinates the group, or works on it', async () => {
    const { id: groupId } = await create(['WEB-1']);
    const replace = (who: PersonOf<typeof world>) =>
      who.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', 'WEB-2'] });
    const { leaseToken } = await people.chloe.deliveryGroups.acquireLease({ groupId, runId: 'r1' });
    await expect(replace(people.ben)).rejects.toMatchObject({
      reason: 'lease_held',
      body: { details: { holder: { name: 'Chloé' }, expiresAt: expect.any(String) } },
    });
    await replace(people.chloe);
    await people.chloe.deliveryGroups.releaseLease({ groupId, leaseToken });
    await acquireTarget(people.robo, 'delivery_group', groupId);
    await expect(replace(people.chloe)).rejects.toMatchObject({ reason: 'lease_held' });
    await expire(groupId);
    await replace(people.chloe);
  });

  it('never brings together what two holders have: a live lease refuses, an expired one ends', async () => {
    const { id: groupId } = await create(['WEB-1']);
    const replace = () =>
      people.chloe.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', 'WEB-2'] });
    await acquireTarget(people.chloe, 'delivery_group', groupId);
    const ben = await acquireTarget(people.ben, 'story', 'WEB-2');
    await expect(replace()).rejects.toMatchObject({
      reason: 'lease_held',
      body: { details: { holder: { name: 'Ben' }, targetType: 'story', targetId: storyAt(1) } },
    });
    await expire(storyAt(1));
    await replace();
    expect(await rivals()).toEqual([]);
    const held = { executionId: ben.execution.id, leaseToken: ben.leaseToken };
    await expect(people.ben.deliveryExecutions.renew(held)).rejects.toMatchObject({
      reason: 'stale_lease',
    });
    await expect(acquireTarget(people.ben, 'story', 'WEB-2')).rejects.toMatchObject({
      body: { details: { targetType: 'delivery_group' } },
    });
    await acquireTarget(people.chloe, 'story', 'WEB-2');
  });

  it("ends the group's expired lease where the story's is live", async () => {
    const { id: groupId } = await create(['WEB-1']);
    const robo = await acquireTarget(people.robo, 'delivery_group', groupId);
    await acquireTarget(people.ben, 'story', 'WEB-2');
    await expire(groupId);
    await people.chloe.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', 'WEB-2'] });
    expect(await rivals()).toEqual([]);
    const held = { executionId: robo.execution.id, leaseToken: robo.leaseToken };
    await expect(people.robo.deliveryExecutions.renew(held)).rejects.toMatchObject({ reason: 'stale_lease' });
    const { execution } = await people.dan.deliveryExecutions.get({ executionId: robo.execution.id });
    expect(execution.state).toBe('available');
  });

  it('leaves no two holders, whether the acquire of a story comes before or after', async () => {
    for (const key of ['WEB-2', 'WEB-3', 'WEB-4']) {
      const { id: groupId } = await create(['WEB-1']);
      await acquireTarget(people.chloe, 'delivery_group', groupId);
      const outcomes = await world.runUnderContention<unknown>(
        { table: 'stories', id: storyAt(Number(key.slice(4)) - 1) },
        () => people.chloe.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', key] }),
        () => acquireTarget(people.ben, 'story', key),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const lost = outcomes.find((outcome) => outcome.status === 'rejected');
      expect(lost?.reason).toMatchObject({ reason: 'lease_held' });
      expect(await rivals()).toEqual([]);
      await people.chloe.deliveryGroups.update({ groupId, state: 'abandoned' });
    }
  });

  it('leaves no two holders, whether the acquire of the group comes before or after', async () => {
    const { id: groupId } = await create(['WEB-1']);
    await acquireTarget(people.ben, 'story', 'WEB-2');
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'delivery_groups', id: groupId },
      () => people.chloe.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', 'WEB-2'] }),
      () => acquireTarget(people.robo, 'delivery_group', groupId),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await rivals()).toEqual([]);
  });
});

describe('a new group', () => {
  it('and its story are not both begun for the first time by two at once', async () => {
    for (const key of ['WEB-1', 'WEB-2', 'WEB-3', 'WEB-4']) {
      const { id: groupId } = await create([key]);
      const outcomes = await world.runUnderContention<unknown>(
        { table: 'stories', id: storyAt(Number(key.slice(4)) - 1) },
        () => acquireTarget(people.ben, 'story', key),
        () => acquireTarget(people.chloe, 'delivery_group', groupId),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await rivals()).toEqual([]);
    }
  });

  it('takes stories with the work on them, and an acquire of it waits for that work', async () => {
    await acquireTarget(people.ben, 'story', 'WEB-1');
    const { id: groupId } = await create(['WEB-1', 'WEB-2']);
    await expect(acquireTarget(people.chloe, 'delivery_group', groupId)).rejects.toMatchObject({
      reason: 'lease_held',
      body: { details: { targetType: 'story', holder: { name: 'Ben' } } },
    });
    await acquireTarget(people.ben, 'delivery_group', groupId);
    expect(await rivals()).toEqual([]);
  });
});
