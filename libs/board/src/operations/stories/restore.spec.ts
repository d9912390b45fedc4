import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Story } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { boardColumns } from '../boardColumns/handlers.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { projects } from '../projects/handlers.ts';
import { reviewers } from '../reviewers/handlers.ts';
import { search } from '../search/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { stories } from './handlers.ts';

const world = useWorld({
  ...{ assignments, boardColumns, comments, epics, projects, reviewers, search, stories, storySpec },
});

let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ ana } = people);
});

const createStory = async (params: object = {}): Promise<Story> =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const get = async (storyId: string) => (await ana.stories.get({ storyId })).story;
const listTitles = async () => (await ana.stories.list({ projectId: 'WEB' })).items.map(({ title }) => title);
const remove = (storyId: string) => ana.stories.delete({ storyId });
const restore = async (storyId: string, who = ana) => (await who.stories.restore({ storyId })).story;
const listDeletedStories = async () => (await ana.stories.listDeleted({ projectId: 'WEB' })).items;
/** Lets the deletion of all stories be so many days older. */
const backdateDeletion = (days: number) =>
  world.rows(
    `update deleted_stories set deleted_at = deleted_at - $2::int * interval '1 day' where org_id = $1`,
    people.orgId,
    days,
  );

/** Returns the answers of all lists of the project, without the version and time of change of stories. */
async function everything(): Promise<string> {
  const { items } = await ana.stories.list({ projectId: 'WEB' });
  const perStory = await Promise.all(
    items.map(async ({ id: storyId }) => [
      await ana.stories.get({ storyId }),
      await ana.comments.list({ storyId }),
      await ana.storySpec.history({ storyId }),
      await ana.reviewers.list({ storyId }),
    ]),
  );
  const rest = [
    items,
    await ana.assignments.listForProject({ projectId: 'WEB' }),
    await ana.boardColumns.list({ projectId: 'WEB' }),
    await ana.epics.list({ projectId: 'WEB' }),
    await ana.projects.get({ projectId: 'WEB' }),
    await ana.search.find({ query: 'passkeys' }),
    await ana.search.find({ query: 'needle' }),
  ];
  return JSON.stringify([perStory, rest], (key, value: unknown) =>
    key === 'version' || key === 'updatedAt' ? undefined : value,
  );
}

describe('stories.restore', () => {
  it('leaves every list as it was before the deletion', async () => {
    const { ben, chloe } = people;
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Accounts' });
    const [first, blocker, parent] = [await createStory(), await createStory(), await createStory()];
    const story = await createStory({
      ...{ title: 'Passkeys', description: 'Sign in', spec: 'one', epicId: epic.id, labels: ['auth', 'web'] },
      ...{
        priority: 'high',
        estimate: 3,
        dueDate: '2027-01-02',
        touches: ['src/**'],
        blockedBy: [blocker.id],
      },
    });
    const [waiting, child, last] = [
      await createStory({ blockedBy: [story.id] }),
      await createStory({ parentId: story.id }),
      await createStory(),
    ];
    await ana.storySpec.update({ storyId: story.id, content: 'two needle' });
    const { comment } = await chloe.comments.create({ storyId: story.id, body: 'A needle in a comment' });
    await ben.comments.create({ storyId: story.id, body: 'A reply', parentId: comment.id });
    await ben.comments.react({ commentId: comment.id, emoji: '👍' });
    await ana.assignments.set({ targetType: 'story', targetId: story.id, memberId: ben.me.memberId });
    await ana.reviewers.add({ storyId: story.id, memberId: chloe.me.memberId });
    await chloe.reviewers.setVerdict({ storyId: story.id, verdict: 'approved' });
    await ben.stories.subscribe({ storyId: story.id, subscribed: true });
    expect([first, parent, waiting, child, last]).toHaveLength(5);
    const before = await everything();
    for (const round of [1, 2]) {
      await remove(story.id);
      expect(await everything()).not.toBe(before);
      const restored = await restore(round === 1 ? story.id : 'web-4');
      expect(restored).toEqual({
        ...(await get(story.id)),
        version: expect.any(Number),
        updatedAt: expect.any(String),
      });
      expect(await everything()).toBe(before);
    }
    expect((await ben.stories.get({ storyId: story.id })).subscribed).toBe(true);
    expect(await listDeletedStories()).toEqual([]);
  });

  it('leaves every list as it was, in whatever order related stories are deleted and restored', async () => {
    const columnIds = Object.values(board.columns);
    const place = fc.record({
      column: fc.nat({ max: columnIds.length - 1 }),
      parent: fc.option(fc.nat()),
      blockers: fc.array(fc.nat(), { maxLength: 3 }),
    });
    const plan = fc.record({
      places: fc.array(place, { minLength: 3, maxLength: 6 }),
      deleted: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      restored: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ places, deleted, restored }) => {
        const made: Story[] = [];
        for (const { column, parent, blockers } of places) {
          const tops = made.filter(({ parentId }) => parentId === null);
          const parentId = parent === null ? undefined : tops[parent % (tops.length + 1)]?.id;
          const blockedBy = blockers.flatMap((nth) => made[nth % (made.length + 1)]?.id ?? []);
          const params = {
            columnId: columnIds[column],
            blockedBy: blockedBy.filter((id) => id !== parentId),
          };
          made.push(
            await createStory({ ...params, ...(parentId !== undefined && { parentId }) }).catch(() =>
              createStory(params),
            ),
          );
        }
        const before = await everything();
        const gone = [...new Set(deleted.map((nth) => made[nth % made.length]?.id ?? ''))];
        for (const id of gone) await remove(id);
        for (const nth of restored) {
          const [id] = gone.splice(nth % Math.max(1, gone.length), 1);
          if (id !== undefined) await restore(id);
        }
        expect(await everything()).toBe(before);
      }),
      { numRuns: 6 },
    );
  });

  it('says what happened to the story and to those that depend on it, once, and keeps versions rising', async () => {
    const story = await createStory();
    const waiting = await createStory({ blockedBy: [story.id] });
    const child = await createStory({ parentId: story.id });
    await remove(story.id);
    const restored = await restore(story.id);
    expect(restored.version).toBe(story.version + 1);
    expect((await get(waiting.id)).version).toBe(waiting.version + 2);
    expect((await get(child.id)).version).toBe(child.version + 2);
    const events = await world.rows<{ kind: string; subject: { key: string }; data: unknown }>(
      `select kind, subject, data from activity where org_id = $1 order by seq desc limit 3`,
      people.orgId,
    );
    expect(events.map(({ kind, subject, data }) => [kind, subject.key, data]).reverse()).toEqual([
      ['story.restored', 'WEB-1', { status: 'backlog' }],
      ['story.updated', 'WEB-2', { fields: ['blockedBy'] }],
      ['story.updated', 'WEB-3', { fields: ['parentId'] }],
    ]);
  });

  it('is for leads, for 30 days, in the organization, and succeeds for one of two', async () => {
    const { ben, chloe } = people;
    const story = await createStory();
    await expect(restore(story.id)).rejects.toMatchObject({ code: 'not_found' });
    await remove(story.id);
    await expect(restore(story.id, chloe)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(chloe.stories.listDeleted({ projectId: 'WEB' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const foreign = await world.org();
    await expect(foreign.ana.stories.restore({ storyId: story.id })).rejects.toMatchObject({
      code: 'not_found',
    });
    await backdateDeletion(30);
    for (const storyId of [story.id, 'WEB-1'])
      await expect(restore(storyId)).rejects.toMatchObject({ code: 'not_found' });
    expect(await listDeletedStories()).toEqual([]);
    await backdateDeletion(-1);
    const outcomes = await world.runUnderContention(
      { table: 'deleted_stories', id: story.id },
      () => restore(story.id),
      () => restore(story.id, ben),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'not_found' },
    });
  });

  it('takes its former place, or the one after it if another story is there by now', async () => {
    for (const title of ['a', 'b', 'c']) await createStory({ title });
    await remove('WEB-2');
    await ana.stories.reorder({ storyId: 'WEB-1', afterStoryId: 'WEB-3' });
    await restore('WEB-2');
    expect(await listTitles()).toEqual(['b', 'c', 'a']);
    await remove('WEB-2');
    const [copy] = await world.rows<{ rank: string }>(
      `select record ->> 'rank' as rank from deleted_records where org_id = $1 and kind = 'stories'`,
      people.orgId,
    );
    await world.rows(
      'update stories set rank = $2 where org_id = $1 and number = 3',
      people.orgId,
      copy?.rank,
    );
    await restore('WEB-2');
    expect(await listTitles()).toEqual(['c', 'b', 'a']);
  });

  it('goes to the first column of its status if its own is archived, and else to the backlog', async () => {
    const { column } = await ana.boardColumns.create({ projectId: 'WEB', name: 'Later', status: 'ready' });
    await createStory({ columnId: column.id });
    await createStory({ columnId: board.columns.in_review });
    await remove('WEB-1');
    await remove('WEB-2');
    await ana.boardColumns.archive({ columnId: column.id });
    await ana.boardColumns.archive({ columnId: board.columns.in_review });
    expect(await restore('WEB-1')).toMatchObject({ columnId: board.columns.ready, status: 'ready' });
    expect(await restore('WEB-2')).toMatchObject({ columnId: board.columns.backlog, status: 'backlog' });
  });

  it('keeps to the limit of the column', async () => {
    await createStory({ columnId: board.columns.ready });
    await remove('WEB-1');
    await createStory({ columnId: board.columns.ready });
    await ana.boardColumns.update({ columnId: board.columns.ready, wipLimit: 1 });
    const limits = (wipLimits: string) =>
      world.rows(
        `update orgs set policy = policy || jsonb_build_object('wipLimits', $2::text) where id = $1`,
        people.orgId,
        wipLimits,
      );
    await limits('block');
    await expect(restore('WEB-1')).rejects.toMatchObject({ body: { details: { reason: 'wip_limit' } } });
    expect(await listDeletedStories()).toMatchObject([{ key: 'WEB-1' }]);
    await limits('warn');
    expect((await ana.stories.restore({ storyId: 'WEB-1' })).warnings).toMatchObject([{ code: 'wip_limit' }]);
  });

  it('leaves out what is gone: its epic, its parent, and stories that it depended on', async () => {
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'E' });
    const [parent, blocker, waiting] = [await createStory(), await createStory(), await createStory()];
    const story = await createStory({ epicId: epic.id, parentId: parent.id, blockedBy: [blocker.id] });
    await ana.stories.update({ storyId: waiting.id, blockedBy: [story.id] });
    for (const { id } of [story, parent, blocker, waiting]) await remove(id);
    await ana.epics.delete({ epicId: epic.id });
    expect(await restore(story.id)).toMatchObject({ epicId: null, parentId: null, blockedBy: [] });
    // A story that is restored later brings its dependencies back.
    expect((await restore(waiting.id)).blockedBy).toEqual([story.id]);
    for (const { id } of [blocker, parent]) await restore(id);
    expect(await get(story.id)).toMatchObject({ blockedBy: [blocker.id], parentId: parent.id });
  });

  it('mirrors no record that another story mirrors by now', async () => {
    const upstream = { provider: 'jira', externalId: 'OPS-7', state: 'open' } as const;
    const [story, other] = [await createStory(), await createStory()];
    await ana.stories.updateUpstream({ storyId: story.id, upstream });
    await remove(story.id);
    await ana.stories.updateUpstream({ storyId: other.id, upstream });
    expect(await restore(story.id)).toMatchObject({ upstream: null });
    await remove(other.id);
    expect(await restore(other.id)).toMatchObject({ upstream });
  });

  it('closes no cycle with dependencies that were added since, and nests no deeper', async () => {
    const [before, after, child] = [await createStory(), await createStory(), await createStory()];
    const story = await createStory({ blockedBy: [before.id] });
    await ana.stories.update({ storyId: after.id, blockedBy: [story.id] });
    await ana.stories.update({ storyId: child.id, parentId: story.id });
    await remove(story.id);
    await ana.stories.update({ storyId: before.id, blockedBy: [after.id] });
    await ana.stories.update({ storyId: child.id, parentId: after.id });
    expect(await restore(story.id)).toMatchObject({ blockedBy: [] });
    expect(await get(after.id)).toMatchObject({ blockedBy: [story.id] });
    expect(await get(child.id)).toMatchObject({ parentId: after.id });
  });

  it('brings a canceled story back as canceled, and counts it', async () => {
    await createStory();
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    await remove('WEB-1');
    expect(await restore('WEB-1')).toMatchObject({ status: 'canceled', columnId: null });
    expect((await ana.projects.get({ projectId: 'WEB' })).counts).toMatchObject({ canceled: 1 });
  });

  it('does not assign members who have left', async () => {
    const { ben } = people;
    const story = await createStory();
    await ana.assignments.set({ targetType: 'story', targetId: story.id, memberId: ben.me.memberId });
    await remove(story.id);
    await world.rows(`update members set status = 'removed' where id = $1`, ben.me.memberId);
    await restore(story.id);
    expect((await ana.assignments.listForProject({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('is refused if another story has its number, and in an archived project', async () => {
    await createStory();
    await remove('WEB-1');
    const other = await createStory();
    await world.rows('update stories set number = 1 where id = $1', other.id);
    await expect(restore('WEB-1')).rejects.toMatchObject({ body: { details: { reason: 'already_exists' } } });
    await world.rows('update stories set number = 2 where id = $1', other.id);
    await ana.projects.update({ projectId: 'WEB', archived: true });
    await expect(restore('WEB-1')).rejects.toMatchObject({ body: { details: { reason: 'archived' } } });
    expect(await listDeletedStories()).toMatchObject([{ key: 'WEB-1' }]);
  });

  it('works although columns were added to the tables since', async () => {
    const story = await createStory({ spec: 'x' });
    await remove(story.id);
    await world.rows(
      `update deleted_records set record = record - 'touches' - 'note' where org_id = $1`,
      people.orgId,
    );
    expect(await restore(story.id)).toMatchObject({ touches: [], specVersion: 1 });
  });
});

describe('stories.listDeleted', () => {
  it('pages through them, the last deleted first', async () => {
    for (let n = 1; n <= 3; n += 1) await createStory({ title: `t${n}` });
    for (const n of [2, 3, 1]) await remove(`WEB-${n}`);
    const first = await ana.stories.listDeleted({ projectId: 'WEB', limit: 2 });
    expect(first.items.map(({ key }) => key)).toEqual(['WEB-1', 'WEB-3']);
    expect(first.items[0]).toMatchObject({
      title: 't1',
      deletedBy: { kind: 'member', memberId: ana.me.memberId, agentId: null, name: 'Ana' },
    });
    const rest = await ana.stories.listDeleted({
      projectId: 'WEB',
      limit: 2,
      cursor: first.nextCursor ?? '',
    });
    expect(rest).toMatchObject({ items: [{ key: 'WEB-2' }], nextCursor: null });
  });
});

it('copies every table whose rows are deleted with a story', async () => {
  const tables = await world.rows<{ name: string }>(
    `with recursive cascades (name) as (
       select 'stories'::regclass
       union
       select c.conrelid::regclass from cascades f join pg_constraint c on c.confrelid = f.name and c.confdeltype = 'c')
     select name::text as name from cascades where name::text !~ '^months\\.' order by 1`,
  );
  const [functions] = await world.rows<{ source: string }>(
    `select string_agg(prosrc, '') as source from pg_proc where proname in ('keep_deleted_story', 'restore_story')`,
  );
  expect(tables.filter(({ name }) => functions?.source.includes(`'${name}'`) !== true)).toEqual([]);
});
