import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;
let ben: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ ana, ben } = people);
});

const make = async (params: object = {}) =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const listEvents = async () =>
  world.rows<{ kind: string; data: unknown }>(
    `select kind, data from activity where org_id = $1 and kind <> 'story.created' order by seq`,
    people.orgId,
  );

describe('stories.get', () => {
  it('finds a story by its id and by its key in any case', async () => {
    const story = await make();
    for (const storyId of [story.id, 'WEB-1', 'wEb-1'])
      expect((await people.dan.stories.get({ storyId })).story).toEqual(story);
  });

  it('answers what is missing, hidden or of another organization alike', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const foreign = await world.org();
    await arrangeBoard(world, foreign.orgId, { key: 'AWAY' });
    const { story: abroad } = await foreign.ana.stories.create({ projectId: 'AWAY', title: 'x' });
    const answers = [];
    for (const storyId of [newId(), 'WEB-7', 'NONE-1', story.id, story.key, abroad.id, abroad.key]) {
      const answer: unknown = await people.chloe.stories.get({ storyId }).catch((error: unknown) => error);
      answers.push(JSON.stringify(answer, (key, value: unknown) => (key === 'requestId' ? '' : value)));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"code":"not_found"');
  });
});

describe('stories.subscribe', () => {
  it('keeps the choice of each member, and shows it to them alone', async () => {
    const { dan, robo } = people;
    const story = await make();
    const seenBy = async (who: PersonOf<typeof world>) =>
      (await who.stories.get({ storyId: 'WEB-1' })).subscribed;
    expect(await dan.stories.subscribe({ storyId: 'web-1', subscribed: true })).toEqual({
      subscription: { storyId: story.id, subscribed: true },
    });
    await ben.stories.subscribe({ storyId: story.id, subscribed: true });
    await ben.stories.subscribe({ storyId: story.id, subscribed: false });
    expect([await seenBy(ana), await seenBy(ben), await seenBy(dan)]).toEqual([null, false, true]);
    await expect(robo.stories.subscribe({ storyId: 'WEB-1', subscribed: true })).rejects.toMatchObject({
      status: 403,
    });
    expect(await listEvents()).toEqual([]);
  });
});

describe('stories.select', () => {
  it('keeps the newest 20 of what one member looks at', async () => {
    await make();
    for (let n = 1; n <= 25; n += 1) {
      await ben.stories.select({ storyId: 'WEB-1', deviceId: `d${n}` });
      // Selections within the same millisecond would have no defined order.
      await pause(2);
    }
    await ana.stories.select({ storyId: 'WEB-1' });
    await ben.stories.select({ storyId: 'WEB-1', deviceId: 'd25' });
    const kept = await world.rows<{ device_id: string }>(
      `select device_id from story_selections where member_id = $1 order by substring(device_id from 2)::int`,
      ben.me.memberId,
    );
    expect(kept.map(({ device_id: id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => `d${n + 6}`));
  });

  it('says who else looks at the same story, the latest first, each once', async () => {
    const { chloe, dan } = people;
    const story = await make();
    const { selection, others } = await ana.stories.select({ storyId: 'WEB-1' });
    expect(selection).toEqual({ storyId: story.id, since: expect.any(String) });
    expect(others).toEqual([]);
    await ben.stories.select({ storyId: story.id, deviceId: 'laptop' });
    await ben.stories.select({ storyId: story.id, deviceId: 'phone' });
    await dan.stories.select({ storyId: story.id });
    await world.rows(
      `update story_selections set since = since - interval '10 s' where member_id <> $1`,
      dan.me.memberId,
    );
    await world.rows(
      `update story_selections set since = since - interval '10 s' where member_id = $1`,
      ben.me.memberId,
    );
    expect((await chloe.stories.select({ storyId: story.id })).others.map(({ member }) => member)).toEqual([
      { id: dan.me.memberId, name: 'Dan', handle: 'dan' },
      { id: ana.me.memberId, name: 'Ana', handle: 'ana' },
      { id: ben.me.memberId, name: 'Ben', handle: 'ben' },
    ]);
    expect(await listEvents()).toEqual([]);
  });

  it('replaces what the device looked at before, and null looks at nothing', async () => {
    const [one, two] = [await make(), await make()];
    await ben.stories.select({ storyId: one.id });
    await ben.stories.select({ storyId: two.id });
    expect((await ana.stories.select({ storyId: one.id })).others).toEqual([]);
    expect((await ana.stories.select({ storyId: two.id })).others).toHaveLength(1);
    expect(await ben.stories.select({ storyId: null })).toEqual({
      selection: { storyId: null, since: null },
      others: [],
    });
    expect(await ben.stories.select({ storyId: null })).toEqual({
      selection: { storyId: null, since: null },
      others: [],
    });
    expect((await ana.stories.select({ storyId: two.id })).others).toEqual([]);
  });

  it('fades after a quarter of an hour', async () => {
    const story = await make();
    await ben.stories.select({ storyId: story.id });
    await world.rows(
      `update story_selections set since = now() - interval '14 min' where member_id = $1`,
      ben.me.memberId,
    );
    expect((await ana.stories.select({ storyId: story.id })).others).toHaveLength(1);
    await world.rows(
      `update story_selections set since = now() - interval '15 min 1 s' where member_id = $1`,
      ben.me.memberId,
    );
    expect((await ana.stories.select({ storyId: story.id })).others).toEqual([]);
  });

  it('works in an archived project, and not for a story that is hidden', async () => {
    const story = await make();
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    expect((await people.dan.stories.select({ storyId: story.id })).selection.storyId).toBe(story.id);
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    await expect(people.chloe.stories.select({ storyId: secret.id })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('stories.updateGitMeta', () => {
  const pullRequest = { number: 7, url: 'https://example.com/7', state: 'open' as const };

  it('takes a commit as Git writes it, whole or cut, in any case', async () => {
    const story = await make();
    const headSha = async (given: string): Promise<string | null | undefined> =>
      (await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: given } })).story.git?.headSha;
    expect(await headSha('ABC1')).toBe('abc1');
    expect(await headSha('f'.repeat(64))).toBe('f'.repeat(64));
    for (const bad of ['abc', 'f'.repeat(65), 'main', ''])
      await expect(headSha(bad)).rejects.toMatchObject({ status: 400 });
  });

  it('merges field by field, and says which changed', async () => {
    const story = await make();
    const update = async (git: object) =>
      (await ben.stories.updateGitMeta({ storyId: story.key, git })).story;
    const first = await update({
      branch: 'web-1',
      checks: 'pending',
      pullRequest: { ...pullRequest, title: 'T' },
    });
    expect(first).toMatchObject({
      version: 2,
      git: {
        branch: 'web-1',
        baseBranch: null,
        headSha: null,
        checks: 'pending',
        pullRequest: { title: 'T' },
      },
    });
    const second = await update({ branch: 'web-1', checks: null, pullRequest });
    expect(second.git).toEqual({ ...first.git, checks: null, pullRequest: { ...pullRequest, title: null } });
    expect((await ana.stories.get({ storyId: story.id })).story).toEqual(second);
    expect(await update({ branch: 'web-1', pullRequest })).toEqual(second);
    expect(await update({ pullRequest: { ...pullRequest, title: null } })).toEqual(second);
    expect(await update({})).toEqual(second);
    expect((await update({ branch: null, pullRequest: null })).git).toBeNull();
    expect(await listEvents()).toEqual([
      { kind: 'story.gitMetaUpdated', data: { fields: ['branch', 'pullRequest', 'checks'] } },
      { kind: 'story.gitMetaUpdated', data: { fields: ['pullRequest', 'checks'] } },
      { kind: 'story.gitMetaUpdated', data: { fields: ['branch', 'pullRequest'] } },
    ]);
  });

  it('keeps both of two changes that come at once', async () => {
    const { id } = await make();
    await world.runUnderContention(
      { table: 'stories', id },
      () => ana.stories.updateGitMeta({ storyId: id, git: { branch: 'b' } }),
      () => ben.stories.updateGitMeta({ storyId: id, git: { checks: 'passing' } }),
    );
    expect((await ana.stories.get({ storyId: id })).story.git).toMatchObject({
      branch: 'b',
      checks: 'passing',
    });
  });
});

describe('stories.updateUpstream', () => {
  it('links a story once per project, and null unlinks it', async () => {
    const [one, two] = [await make(), await make()];
    const upstream = { provider: 'github' as const, externalId: 'acme/web#17' };
    const { story } = await ben.stories.updateUpstream({ storyId: one.id, upstream });
    expect(story).toMatchObject({
      version: 2,
      upstream: { ...upstream, url: null, state: null, syncedAt: null },
    });
    expect((await ben.stories.updateUpstream({ storyId: one.id, upstream })).story).toEqual(story);
    const asRead = { ...upstream, url: null, state: null, syncedAt: null };
    expect((await ben.stories.updateUpstream({ storyId: one.id, upstream: asRead })).story).toEqual(story);
    await expect(ben.stories.updateUpstream({ storyId: two.id, upstream })).rejects.toMatchObject({
      code: 'conflict',
      reason: 'already_exists',
    });
    await ben.stories.updateUpstream({ storyId: two.id, upstream: { ...upstream, provider: 'gitlab' } });
    const other = await arrangeBoard(world, people.orgId, { key: 'API' });
    const { story: elsewhere } = await ana.stories.create({ projectId: other.projectId, title: 'x' });
    await ana.stories.updateUpstream({ storyId: elsewhere.id, upstream });
    expect((await ben.stories.updateUpstream({ storyId: one.id, upstream: null })).story.upstream).toBeNull();
    await ben.stories.updateUpstream({ storyId: two.id, upstream });
    expect((await listEvents()).map(({ data }) => data)).toEqual([
      upstream,
      { ...upstream, provider: 'gitlab' },
      upstream,
      { provider: null, externalId: null },
      upstream,
    ]);
  });

  it('keeps the time of the other tracker in UTC', async () => {
    await make();
    const upstream = {
      provider: 'jira' as const,
      externalId: 'X-1',
      url: 'https://example.com/x',
      syncedAt: '2026-11-21T10:30:00+01:00',
    };
    const { story } = await ben.stories.updateUpstream({ storyId: 'WEB-1', upstream });
    expect(story.upstream?.syncedAt).toBe('2026-11-21T09:30:00.000Z');
    expect((await ben.stories.updateUpstream({ storyId: 'WEB-1', upstream })).story.version).toBe(2);
  });
});

describe('stories.delete', () => {
  it('takes the story away with all that hangs on it', async () => {
    const epicId = newId();
    await world.rows(
      'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
      people.orgId,
      epicId,
      board.projectId,
      'E',
    );
    const story = await make({ spec: 'x', epicId });
    const waiting = await make({ blockedBy: [story.id] });
    await ben.stories.select({ storyId: story.id });
    await world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id) values ($1, 'story', $2, $3, $4)`,
      people.orgId,
      story.id,
      board.projectId,
      ben.me.memberId,
    );
    expect(await ana.stories.delete({ storyId: 'web-1' })).toEqual({ deleted: true });
    await expect(ana.stories.delete({ storyId: story.id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(ana.stories.get({ storyId: 'WEB-1' })).rejects.toMatchObject({ code: 'not_found' });
    const { story: free } = await ana.stories.get({ storyId: waiting.id });
    expect(free).toEqual({
      ...waiting,
      blockedBy: [],
      version: waiting.version + 1,
      updatedAt: free.updatedAt,
    });
    expect(Date.parse(free.updatedAt)).toBeGreaterThan(Date.parse(waiting.updatedAt));
    for (const table of ['story_specs', 'story_selections', 'assignments', 'story_blockers']) {
      expect(await world.rows(`select 1 from ${table} where org_id = $1`, people.orgId)).toEqual([]);
    }
    expect(
      await world.rows('select story_count from board_columns where id = $1', board.columns.backlog),
    ).toEqual([{ story_count: 1 }]);
    expect(await world.rows('select story_count from epics where id = $1', epicId)).toEqual([
      { story_count: 0 },
    ]);
    expect(await listEvents()).toContainEqual({ kind: 'story.deleted', data: {} });
    expect((await make()).number).toBe(3);
  });

  it('counts a canceled story out', async () => {
    await make();
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    await ana.stories.delete({ storyId: 'WEB-1' });
    expect(
      await world.rows(
        'select canceled_stories from project_counters where project_id = $1',
        board.projectId,
      ),
    ).toEqual([{ canceled_stories: 0 }]);
  });

  it('is for leads, and succeeds for one of two', async () => {
    const { id } = await make();
    await expect(people.chloe.stories.delete({ storyId: id })).rejects.toMatchObject({ code: 'forbidden' });
    const outcomes = await world.runUnderContention(
      { table: 'stories', id },
      () => ana.stories.delete({ storyId: id }),
      () => ben.stories.delete({ storyId: id }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'not_found' },
    });
  });
});
