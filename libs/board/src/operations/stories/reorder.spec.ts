import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, refusalOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { maxRankLength } from '../../rules/ranks.ts';
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
const createStories = async (count: number) => {
  const made = [];
  for (let n = 0; n < count; n += 1) made.push(await make());
  return made;
};
/** Returns the numbers of a column's stories from top to bottom. */
const listNumbers = async (columnId = board.columns.backlog) =>
  (await ana.stories.list({ projectId: board.projectId, columnId })).items.map(({ number }) => number);
const listEvents = () =>
  world.rows<{ kind: string; data: unknown }>(
    `select kind, data from activity where org_id = $1 and kind <> 'story.created' order by seq`,
    people.orgId,
  );

describe('stories.reorder', () => {
  it('moves nothing of a story that another has changed meanwhile, where one asks for that', async () => {
    await createStories(3);
    const { story } = await ana.stories.update({ storyId: 'WEB-3', priority: 'high' });
    const move = { storyId: 'WEB-3', beforeStoryId: 'WEB-1' };
    expect(
      await refusalOf(ana.stories.reorder({ ...move, expectedVersion: story.version - 1 })),
    ).toMatchObject({
      ...{ status: 409, details: { reason: 'version_mismatch', currentVersion: story.version } },
    });
    expect(await listNumbers()).toEqual([1, 2, 3]);
    await ana.stories.reorder({ ...move, expectedVersion: story.version });
    expect(await listNumbers()).toEqual([3, 1, 2]);
  });

  it('puts a story right before or after another one, or at the end', async () => {
    await createStories(4);
    const { story, warnings } = await ana.stories.reorder({ storyId: 'WEB-4', beforeStoryId: 'web-2' });
    expect(await listNumbers()).toEqual([1, 4, 2, 3]);
    expect({ version: story.version, warnings }).toEqual({ version: 2, warnings: [] });
    expect((await ana.stories.get({ storyId: 'WEB-4' })).story).toEqual(story);
    await ana.stories.reorder({ storyId: 'WEB-1', afterStoryId: 'WEB-3' });
    expect(await listNumbers()).toEqual([4, 2, 3, 1]);
    await ana.stories.reorder({ storyId: 'WEB-3', beforeStoryId: 'WEB-4' });
    expect(await listNumbers()).toEqual([3, 4, 2, 1]);
    await ana.stories.reorder({ storyId: 'WEB-3' });
    expect(await listNumbers()).toEqual([4, 2, 1, 3]);
    await ana.stories.reorder({ storyId: 'WEB-4', afterStoryId: 'WEB-2', columnId: board.columns.backlog });
    expect(await listNumbers()).toEqual([2, 4, 1, 3]);
    expect(await listEvents()).toEqual(
      Array.from({ length: 5 }, () => ({
        kind: 'story.reordered',
        data: { columnId: board.columns.backlog },
      })),
    );
    // A move changes only the row of the moved story.
    expect(
      await world.rows('select number from stories where project_id = $1 and version = 1', board.projectId),
    ).toEqual([{ number: 2 }]);
  });

  it('changes nothing where the story stands there already', async () => {
    const [, second] = await createStories(3);
    for (const place of [
      { beforeStoryId: 'WEB-2' },
      { afterStoryId: 'WEB-2' },
      { beforeStoryId: 'WEB-3' },
      { afterStoryId: 'WEB-1' },
    ]) {
      expect(await ana.stories.reorder({ storyId: 'WEB-2', ...place })).toEqual({
        story: second,
        warnings: [],
      });
    }
    expect((await ana.stories.reorder({ storyId: 'WEB-3' })).story.version).toBe(1);
    expect(await listEvents()).toEqual([]);
  });

  it('to a column of another status is a status change with the same rules', async () => {
    await createStories(2);
    const there = await make({ status: 'ready' });
    await ana.stories.reorder({ storyId: 'WEB-1', beforeStoryId: there.id });
    expect(await listNumbers(board.columns.ready)).toEqual([1, 3]);
    expect((await ana.stories.get({ storyId: 'WEB-1' })).story.status).toBe('ready');
    await ana.stories.reorder({ storyId: 'WEB-2', columnId: board.columns.done });
    await expect(
      ana.stories.reorder({ storyId: 'WEB-2', columnId: board.columns.in_review }),
    ).rejects.toMatchObject({
      body: { details: { reason: 'invalid_transition', from: 'done', to: 'in_review' } },
    });
    expect(await listEvents()).toMatchObject([
      { kind: 'story.statusChanged', data: { from: 'backlog', to: 'ready', columnId: board.columns.ready } },
      { kind: 'story.statusChanged', data: { from: 'backlog', to: 'done' } },
    ]);
    await world.rows(
      `update orgs set policy = '{"requireSpecToStart": true, "wipLimits": "block"}' where id = $1`,
      people.orgId,
    );
    await world.rows('update board_columns set wip_limit = 2 where id = $1', board.columns.ready);
    await make();
    await expect(
      ana.stories.reorder({ storyId: 'WEB-4', columnId: board.columns.in_progress }),
    ).rejects.toMatchObject({ reason: 'policy' });
    // A neighbor in another column can determine the new status of a story. For the gate of that status, a
    // spec without words does not count, and a spec with a word counts.
    const begun = await make({ status: 'in_progress', spec: 'x' });
    const blank = await make({ spec: ' ' });
    const beside = { storyId: blank.id, afterStoryId: begun.id };
    await expect(ana.stories.reorder(beside)).rejects.toMatchObject({ reason: 'policy' });
    await world.rows(`update story_specs set content = 'x' where story_id = $1`, blank.id);
    expect((await ana.stories.reorder(beside)).story.status).toBe('in_progress');
    await expect(
      ana.stories.reorder({ storyId: 'WEB-4', columnId: board.columns.ready }),
    ).rejects.toMatchObject({ reason: 'wip_limit' });
    // Stories of a full column can still be reordered.
    await ana.stories.reorder({ storyId: 'WEB-1' });
    expect(await listNumbers(board.columns.ready)).toEqual([3, 1]);
  });

  it('brings a canceled story back, and keeps canceled ones in no order', async () => {
    await createStories(2);
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    await expect(ana.stories.reorder({ storyId: 'WEB-1' })).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
    await expect(ana.stories.reorder({ storyId: 'WEB-2', beforeStoryId: 'WEB-1' })).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
    await ana.stories.reorder({ storyId: 'WEB-1', beforeStoryId: 'WEB-2' });
    expect(await listNumbers()).toEqual([1, 2]);
  });

  it('takes an anchor of this project, in the column named', async () => {
    await createStories(2);
    const other = await arrangeBoard(world, people.orgId, { key: 'API' });
    const { story: elsewhere } = await ana.stories.create({ projectId: other.projectId, title: 'x' });
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const move = (place: object) => people.chloe.stories.reorder({ storyId: 'WEB-1', ...place });
    await expect(move({ beforeStoryId: elsewhere.id })).rejects.toMatchObject({
      reason: 'mismatched_project',
    });
    await expect(move({ afterStoryId: elsewhere.key })).rejects.toMatchObject({
      reason: 'mismatched_project',
    });
    await expect(move({ columnId: other.columns.ready })).rejects.toMatchObject({
      reason: 'mismatched_project',
    });
    for (const place of [
      { beforeStoryId: secret.id },
      { beforeStoryId: secret.key },
      { columnId: hidden.columns.ready },
      { beforeStoryId: newId() },
      { afterStoryId: 'WEB-99' },
    ]) {
      for (const read of [{}, { expectedVersion: 9 }])
        await expect(move({ ...place, ...read })).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(move({ columnId: board.columns.ready, beforeStoryId: 'WEB-2' })).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
    await expect(move({ beforeStoryId: 'WEB-2', afterStoryId: 'WEB-2' })).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect(await listEvents()).toEqual([]);
  });

  it('never gives two stories one place, whatever eight clients do at once', async () => {
    await createStories(12);
    const { ben, chloe, robo } = people;
    const clients = [ana, ben, chloe, robo, ana, ben, chloe, robo];
    const target = (n: number) => `WEB-${(n % 12) + 1}`;
    const columns = [board.columns.backlog, board.columns.ready];
    await Promise.all(
      clients.map(async (client, index) => {
        for (let n = 0; n < 12; n += 1) {
          const storyId = target(index * 5 + n * 7);
          const anchor = target(index * 3 + n);
          const place = [
            { beforeStoryId: anchor },
            { afterStoryId: anchor },
            { columnId: columns[(index + n) % 2] ?? '' },
          ][n % 3];
          await client.stories.reorder({ storyId, ...place });
        }
      }),
    );
    const rows = await world.rows<{ number: number; column_id: string; rank: string }>(
      'select number, column_id, rank from stories where project_id = $1',
      board.projectId,
    );
    expect(rows.map(({ number }) => number).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 1),
    );
    expect(new Set(rows.map(({ column_id, rank }) => `${column_id} ${rank}`)).size).toBe(12);
    const counted = await world.rows<{ id: string; story_count: number }>(
      'select id, story_count from board_columns where project_id = $1',
      board.projectId,
    );
    for (const { id, story_count } of counted)
      expect(rows.filter(({ column_id }) => column_id === id)).toHaveLength(story_count);
  });

  it('puts two stories that come to one place at once beside each other', async () => {
    await createStories(4);
    const outcomes = await world.runUnderContention(
      { table: 'board_columns', id: board.columns.backlog },
      () => ana.stories.reorder({ storyId: 'WEB-3', beforeStoryId: 'WEB-2' }),
      () => people.ben.stories.reorder({ storyId: 'WEB-4', beforeStoryId: 'WEB-2' }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect([
      [1, 3, 4, 2],
      [1, 4, 3, 2],
    ]).toContainEqual(await listNumbers());
  });

  it('ranks a column afresh when a rank would grow too long, and keeps its order', async () => {
    await createStories(6);
    const order = [1, 2, 3, 4, 5, 6];
    // Ranks as long as those after hundreds of moves to one place.
    const long = `a0${'V'.repeat(maxRankLength - 3)}`;
    await world.rows(
      `update stories set rank = case number when 2 then $2 when 3 then $3 else rank end where project_id = $1 and number in (2, 3)`,
      board.projectId,
      `${long}1`,
      `${long}2`,
    );
    expect(await listNumbers()).toEqual(order);
    await ana.stories.reorder({ storyId: 'WEB-6', afterStoryId: 'WEB-2' });
    expect(await listNumbers()).toEqual([1, 2, 6, 3, 4, 5]);
    const ranks = await world.rows<{ rank: string; version: number; number: number }>(
      'select rank, version, number from stories where project_id = $1',
      board.projectId,
    );
    expect(ranks.every(({ rank }) => rank.length < 5)).toBe(true);
    expect(ranks.filter(({ version }) => version > 1).map(({ number }) => number)).toEqual([6]);
  });

  it('is refused to viewers', async () => {
    await createStories(2);
    await expect(
      people.dan.stories.reorder({ storyId: 'WEB-2', beforeStoryId: 'WEB-1' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});
