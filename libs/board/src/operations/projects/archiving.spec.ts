/**
 * Tests archiving in the order of commits. A write that began before it is committed before it, or not at
 * all.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { reviewers } from '../reviewers/handlers.ts';
import { search } from '../search/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, stories, comments, epics, assignments, reviewers, search });
let people: PeopleOf<typeof world>;
let board: TestBoard;

beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  await people.ana.stories.create({ projectId: 'WEB', title: 'There before' });
});

const archive = () => people.ana.projects.update({ projectId: 'WEB', archived: true });
const writeCases: [string, string, () => Promise<unknown>][] = [
  ['a story', 'story.created', () => people.chloe.stories.create({ projectId: 'WEB', title: 'x' })],
  ['a comment', 'comment.created', () => people.chloe.comments.create({ storyId: 'WEB-1', body: 'x' })],
  ['an epic', 'epic.created', () => people.chloe.epics.create({ projectId: 'WEB', title: 'x' })],
];

/** Locks a row that the first call needs, starts both calls, and then releases the row. */
async function meet(
  held: { readonly table: string; readonly column: string; readonly id: string },
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
) {
  const holder = await world.database.owner.connect();
  try {
    await holder.query('begin');
    await holder.query(`select from ${held.table} where ${held.column} = $1 for update`, [held.id]);
    const calls = [first()];
    await world.waitUntilBlocked(1);
    calls.push(second());
    const settled = Promise.allSettled(calls);
    await world.waitUntilBlocked(2);
    await holder.query('rollback');
    return (await settled).map((outcome) =>
      outcome.status === 'fulfilled' ? 'done' : (outcome.reason as { reason?: string }).reason,
    );
  } finally {
    holder.release();
  }
}
const listEvents = async () =>
  (
    await world.rows<{ kind: string }>(
      'select kind from activity where org_id = $1 order by seq',
      people.orgId,
    )
  )
    .slice(1)
    .map(({ kind }) => kind);

describe('archiving a project', () => {
  it.each(writeCases)('keeps out %s that comes while it is on its way', async (_what, _kind, write) => {
    const outcomes = await meet({ table: 'projects', column: 'id', id: board.projectId }, archive, write);
    expect(outcomes).toEqual(['done', 'archived']);
    expect(await listEvents()).toEqual(['project.archived']);
  });

  it.each(writeCases)('waits for %s that was on its way before', async (_what, kind, write) => {
    // A write locks the row of streams last. The write has therefore begun, but is not committed, when the
    // archiving starts.
    const outcomes = await meet({ table: 'streams', column: 'org_id', id: people.orgId }, write, archive);
    expect(outcomes).toEqual(['done', 'done']);
    expect(await listEvents()).toEqual([kind, 'project.archived']);
  });

  it('lets everybody in again when it is taken back', async () => {
    await archive();
    await people.ana.projects.update({ projectId: 'WEB', archived: false });
    for (const [, , write] of writeCases) await write();
  });
});

describe('an archived project', () => {
  it('is left out of lists of work, and found where it is named', async () => {
    const { ana, ben } = people;
    const { memberId } = ben.me;
    await ana.assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId });
    await ana.reviewers.add({ storyId: 'WEB-1', memberId });
    const counts = async (projectId?: string) => [
      (await ben.assignments.listForOrg({ memberId })).items.length,
      (await ben.reviewers.listForUser({})).items.length,
      (await ben.search.find({ query: 'There before', projectId })).items.length,
      (await ben.search.find({ query: 'WEB-1', projectId })).items.length,
    ];
    expect(await counts()).toEqual([1, 1, 1, 1]);
    await archive();
    expect(await counts()).toEqual([0, 0, 0, 0]);
    expect((await counts('WEB')).slice(2)).toEqual([1, 1]);
    await ana.projects.update({ projectId: 'WEB', archived: false });
    expect(await counts()).toEqual([1, 1, 1, 1]);
  });
});
