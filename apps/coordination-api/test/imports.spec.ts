/** Imports send no notifications, award no points, and never apply partially. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;
let importId: string;

beforeEach(async () => {
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  const { import: begun } = await people.ana.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'x' });
  importId = begun.id;
});

const itemsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    externalId: `OPS-${from + index}`,
    title: `Story ${from + index}`,
    status: 'done' as const,
    assigneeEmail: 'chloe@example.com',
    blockedBy: [`OPS-${from + index + 1}`],
    comments: [
      {
        ...{ externalId: '1', authorName: 'Chloé', authorEmail: 'chloe@example.com' },
        ...{ body: 'For @chloe and @dan', at: '2024-01-01T00:00:00Z' },
      },
      { externalId: '2', authorName: 'Zed', body: 'Old', at: '2024-01-02T00:00:00Z' },
    ],
  }));

/** Counts the records of the organization. */
const counts = async () => {
  const [row] = await api.world.rows<Record<string, number>>(
    `select (select count(*)::int from stories where org_id = $1) as stories,
       (select count(*)::int from comments where org_id = $1) as comments,
       (select count(*)::int from import_items where org_id = $1) as items,
       (select last_story_number from project_counters where org_id = $1) as last`,
    people.orgId,
  );
  return row;
};

it('tells no one, and counts for no one: not as work, and not as words', async () => {
  const { chloe, dan, ana } = people;
  await ana.imports.put({ importId, items: itemsOf(1, 3) });
  await ana.imports.finish({ importId });
  for (const person of [chloe, dan]) expect((await person.notifications.unreadCount()).unread).toBe(0);
  expect(
    await api.world.rows(
      `select topic from outbox where org_id = $1 and topic <> 'event' union select 'points' from point_entries where org_id = $1`,
      people.orgId,
    ),
  ).toEqual([]);
  // Comments by an author who is not a member are not attributed to Ana, who ran the import.
  expect((await ana.members.profile()).stats).toMatchObject({
    commentsWritten: 0,
  });
});

it('cut off at any put, it goes on from there, and in the end is as if it was never cut off', async () => {
  const puts = [itemsOf(1, 5), itemsOf(6, 5), itemsOf(11, 5)];
  for (const [index, items] of puts.entries()) {
    const before = await counts();
    const holder = await api.world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from project_counters where org_id = $1 for update', [people.orgId]);
      const cut = api.call(people.ana.me.token, 'imports.put', { importId, items });
      await api.world.waitUntilBlocked(1);
      // Simulates a killed server process: its connection closes in the middle of the transaction.
      await api.world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect((await cut).status).toBe(503);
      await holder.query('rollback');
    } finally {
      holder.release();
    }
    expect(await counts()).toEqual(before);
    const { results } = await people.ana.imports.put({ importId, items });
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    expect(await counts()).toEqual({
      stories: 5 * (index + 1),
      comments: 10 * (index + 1),
      items: 15 * (index + 1),
      last: 5 * (index + 1),
    });
  }
  // Start over, as a client that lost its position does.
  for (const items of puts) {
    const { results } = await people.ana.imports.put({ importId, items });
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
  }
  const { leftOut } = await people.ana.imports.finish({ importId });
  expect(leftOut.map(({ blockedBy }) => blockedBy)).toEqual(['OPS-16']);
});

describe('of a large board', () => {
  it('takes 600 stories with their comments, as many as may come at once, and takes them back', async () => {
    for (let from = 1; from <= 600; from += 200) {
      const { status } = await api.call(people.ana.me.token, 'imports.put', {
        importId,
        items: itemsOf(from, 200),
      });
      expect(status).toBe(200);
    }
    expect(await counts()).toMatchObject({ stories: 600, comments: 1_200 });
    expect((await api.call(people.ana.me.token, 'imports.finish', { importId })).status).toBe(200);
    const undone = await api.call(people.ana.me.token, 'imports.undo', { importId });
    expect(undone.body['removed']).toBe(600);
    expect(await counts()).toMatchObject({ stories: 0, comments: 0, items: 0 });
  });
});
