import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const make = async (params: object = {}) =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const makeEpic = async (projectId = board.projectId, orgId = people.orgId) => {
  const id = newId();
  await world.rows(
    'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
    orgId,
    id,
    projectId,
    'E',
  );
  return id;
};
const changes = async () =>
  (
    await world.rows<{ data: { fields: string[] } }>(
      `select data from activity where org_id = $1 and kind = 'story.updated' order by seq`,
      people.orgId,
    )
  ).map(({ data }) => data.fields);

describe('stories.update', () => {
  it('changes what is given and says which fields really changed', async () => {
    const before = await make({ title: 'Old', labels: ['a'], estimate: 3 });
    const epicId = await makeEpic();
    const blocked = { kind: 'external' as const, note: 'waits', unblockerMemberId: people.ben.me.memberId };
    const { story } = await ana.stories.update({
      storyId: 'web-1',
      title: 'New',
      labels: ['a'],
      epicId,
      blocked,
      priority: 'none',
      expectedVersion: 1,
    });
    expect(story).toEqual({
      ...before,
      title: 'New',
      epicId,
      blocked,
      version: 2,
      updatedAt: story.updatedAt,
    });
    expect((await ana.stories.get({ storyId: story.id })).story).toEqual(story);
    const { story: cleared } = await ana.stories.update({
      storyId: story.id,
      epicId: null,
      estimate: null,
      blocked: null,
    });
    expect(cleared).toMatchObject({ epicId: null, estimate: null, blocked: null, version: 3 });
    expect(await changes()).toEqual([
      ['title', 'epicId', 'blocked'],
      ['estimate', 'epicId', 'blocked'],
    ]);
    expect(await world.rows('select story_count from epics where id = $1', epicId)).toEqual([
      { story_count: 0 },
    ]);
  });

  it('clears by null what a story can be without', async () => {
    const one = await make();
    const plain = await make();
    const { story } = await ana.stories.update({
      storyId: plain.id,
      description: 'd',
      priority: 'high',
      labels: ['a'],
      blockedBy: [one.id],
    });
    const nulls = { description: null, priority: null, labels: null, blockedBy: null };
    const { story: cleared } = await ana.stories.update({ storyId: story.id, ...nulls });
    expect(cleared).toEqual({ ...plain, version: 3, updatedAt: cleared.updatedAt });
    expect((await ana.stories.get({ storyId: story.id })).story).toEqual(cleared);
    expect((await ana.stories.update({ storyId: story.id, ...nulls })).story).toEqual(cleared);
  });

  it('changes nothing where nothing is new, and says nothing', async () => {
    const one = await make();
    const story = await make({ labels: ['a'], blockedBy: [one.id], description: 'd' });
    const same = {
      title: story.title,
      labels: ['a'],
      blockedBy: ['WEB-1', one.id],
      description: 'd',
      blocked: null,
      epicId: null,
    };
    expect((await ana.stories.update({ storyId: story.id, ...same })).story).toEqual(story);
    expect((await ana.stories.update({ storyId: story.id })).story).toEqual(story);
    await expect(ana.stories.update({ storyId: story.id, expectedVersion: 2 })).rejects.toMatchObject({
      body: { details: { reason: 'version_mismatch', currentVersion: 1 } },
    });
    expect(await changes()).toEqual([]);
  });

  it('lets one of two who read the same version change it', async () => {
    const { id } = await make();
    const outcomes = await world.runUnderContention(
      { table: 'stories', id },
      () => ana.stories.update({ storyId: id, title: 'a', expectedVersion: 1 }),
      () => people.ben.stories.update({ storyId: id, title: 'b', expectedVersion: 1 }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await changes()).toHaveLength(1);
  });

  it('keeps what others change at the same time in other fields', async () => {
    const one = await make();
    const { id } = await make();
    const outcomes = await world.runUnderContention(
      { table: 'stories', id },
      () => ana.stories.update({ storyId: id, blockedBy: [one.id] }),
      () => people.ben.stories.update({ storyId: id, title: 'b' }),
    );
    const last = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' && outcome.value.story.version === 3 ? [outcome.value.story] : [],
    );
    expect(last).toEqual([(await ana.stories.get({ storyId: id })).story]);
    expect(last).toMatchObject([{ title: 'b', blockedBy: [one.id] }]);
  });

  it('replaces the blockers', async () => {
    const [one, two, three] = [await make(), await make(), await make()];
    const { id } = await make({ blockedBy: [one.id, two.id] });
    const { story } = await ana.stories.update({ storyId: id, blockedBy: ['WEB-3', two.id] });
    expect(story.blockedBy).toEqual([two.id, three.id]);
    expect((await ana.stories.get({ storyId: id })).story).toEqual(story);
    expect((await ana.stories.update({ storyId: id, blockedBy: [] })).story.blockedBy).toEqual([]);
    expect(await changes()).toEqual([['blockedBy'], ['blockedBy']]);
  });

  it('refuses a circle of blockers, however long', async () => {
    for (let n = 0; n < 5; n += 1) await make();
    for (let n = 1; n < 5; n += 1)
      await ana.stories.update({ storyId: `WEB-${n}`, blockedBy: [`WEB-${n + 1}`] });
    for (const blocker of [1, 3, 5]) {
      await expect(
        ana.stories.update({ storyId: 'WEB-5', blockedBy: [`WEB-${blocker}`] }),
      ).rejects.toMatchObject({ reason: 'blocking_circle' });
    }
    // Two stories may wait for the same story without forming a cycle.
    expect(
      (await ana.stories.update({ storyId: 'WEB-1', blockedBy: ['WEB-2', 'WEB-3', 'WEB-5'] })).story
        .blockedBy,
    ).toHaveLength(3);
    // After WEB-4 has lost its blocker, WEB-5 may wait for WEB-4 without closing a cycle.
    await ana.stories.update({ storyId: 'WEB-4', blockedBy: [] });
    await ana.stories.update({ storyId: 'WEB-5', blockedBy: ['WEB-4'] });
  });

  it('refuses one of two calls that together close a circle', async () => {
    const [one, two] = [await make(), await make()];
    // A write locks the row of streams last, so both calls have begun before either of them can commit.
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      () => ana.stories.update({ storyId: one.id, blockedBy: [two.id] }),
      () => people.ben.stories.update({ storyId: two.id, blockedBy: [one.id] }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { reason: 'blocking_circle' },
    });
  });

  it('lets two stories change places between two epics at once', async () => {
    const [epicId, other] = [await makeEpic(), await makeEpic()];
    const [one, two] = [await make({ epicId }), await make({ epicId: other })];
    // The holder's lock has the strength of an update of a count, so foreign key checks do not wait for it.
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('update epics set story_count = story_count where project_id = $1', [
        board.projectId,
      ]);
      const moving = Promise.all([
        ana.stories.update({ storyId: one.id, epicId: other }),
        people.ben.stories.update({ storyId: two.id, epicId }),
      ]);
      await world.waitUntilBlocked(2);
      await holder.query('commit');
      expect((await moving).map(({ story }) => story.epicId)).toEqual([other, epicId]);
    } finally {
      holder.release();
    }
    expect(await world.rows('select story_count from epics where project_id = $1', board.projectId)).toEqual([
      { story_count: 1 },
      { story_count: 1 },
    ]);
  });

  it('waits for no member who cannot see it', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const blocked = { kind: 'needs_input', note: '', unblockerMemberId: people.dan.me.memberId } as const;
    await expect(ana.stories.update({ storyId: 'HID-1', blocked })).rejects.toMatchObject({
      ...{ status: 422, reason: 'no_role_in_project' },
    });
  });

  it('takes epic and blockers of its own project, and an active member to unblock it', async () => {
    const { id } = await make();
    const other = await arrangeBoard(world, people.orgId, { key: 'API' });
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const foreign = await world.org();
    const away = await arrangeBoard(world, foreign.orgId, { key: 'AWAY' });
    const { story: elsewhere } = await ana.stories.create({ projectId: other.projectId, title: 'x' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const { story: abroad } = await foreign.ana.stories.create({ projectId: away.projectId, title: 'x' });
    const change = (params: object) => people.chloe.stories.update({ storyId: id, ...params });
    const blocked = (unblockerMemberId: string) => ({
      blocked: { kind: 'external', note: '', unblockerMemberId },
    });
    for (const params of [
      { epicId: await makeEpic(other.projectId) },
      { blockedBy: [elsewhere.id] },
      { blockedBy: [elsewhere.key] },
    ]) {
      await expect(change(params)).rejects.toMatchObject({ reason: 'mismatched_project' });
    }
    await world.rows(`update members set status = 'removed' where id = $1`, people.dan.me.memberId);
    for (const params of [
      { epicId: newId() },
      { epicId: await makeEpic(hidden.projectId) },
      { epicId: await makeEpic(away.projectId, foreign.orgId) },
      { blockedBy: [newId()] },
      { blockedBy: [secret.id] },
      { blockedBy: [secret.key] },
      { blockedBy: [abroad.id] },
      { blockedBy: ['AWAY-1'] },
      blocked(newId()),
      blocked(people.dan.me.memberId),
      blocked(foreign.ben.me.memberId),
    ]) {
      for (const read of [{}, { expectedVersion: 9 }])
        await expect(change({ ...params, ...read })).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await changes()).toEqual([]);
  });

  it('is refused to viewers, and in an archived project', async () => {
    const { id } = await make();
    await expect(people.dan.stories.update({ storyId: id, title: 'y' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(ana.stories.update({ storyId: id, title: 'y' })).rejects.toMatchObject({
      reason: 'archived',
    });
  });
});
