import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { epics } from '../epics/handlers.ts';
import { reviewers } from '../reviewers/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { boardColumns } from './handlers.ts';

const world = useWorld({ boardColumns, epics, reviewers, stories, storySpec });

/** Creates a board with two columns for ready. */
async function arrangeTwoReadyStories() {
  const people = await world.org();
  const board = await arrangeBoard(world, people.orgId);
  const { column } = await people.ana.boardColumns.create({
    projectId: board.projectId,
    name: 'Ready too',
    status: 'ready',
    afterColumnId: board.columns.ready,
  });
  return { ...people, ...board, from: board.columns.ready, to: column.id };
}

describe('boardColumns.archive', () => {
  it('moves the stories to the end of the other column, in the order they had', async () => {
    const { ana, chloe, orgId, projectId, from, to } = await arrangeTwoReadyStories();
    const make = async (title: string, columnId: string) =>
      (await chloe.stories.create({ projectId, title, columnId })).story.id;
    const [a, b, c] = [await make('a', from), await make('b', from), await make('c', from)];
    const [d, e] = [await make('d', to), await make('e', to)];
    await chloe.stories.reorder({ storyId: c, beforeStoryId: a });
    const { story: before } = await chloe.stories.get({ storyId: b });

    const answer = await ana.boardColumns.archive({ columnId: from, moveStoriesToColumnId: to });
    expect(boardRegistry.boardColumns.archive.result.parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({
      column: { id: from, archivedAt: expect.any(String), version: 2 },
      movedStories: 3,
      warnings: [],
    });

    const { items } = await chloe.stories.list({ projectId, columnId: to });
    expect(items.map(({ id }) => id)).toEqual([d, e, c, a, b]);
    expect(new Set(items.map(({ rank }) => rank)).size).toBe(5);
    const { story: after } = await chloe.stories.get({ storyId: b });
    expect(after).toEqual({
      ...before,
      columnId: to,
      rank: after.rank,
      version: 2,
      updatedAt: answer.column.updatedAt,
    });
    expect(await wrongCounts(world, projectId)).toEqual([]);
    const columns = (await ana.boardColumns.list({ projectId })).items;
    expect(columns.map(({ position, name }) => [position, name])).toEqual([
      [0, 'backlog'],
      [1, 'Ready too'],
      [2, 'in_progress'],
      [3, 'in_review'],
      [4, 'done'],
    ]);
    const [event] = await world.rows(
      'select kind, data from activity where org_id = $1 order by seq desc limit 1',
      orgId,
    );
    expect(event).toEqual({ kind: 'column.archived', data: { movedStories: 3 } });
  });

  it('is safe to repeat', async () => {
    const { ana, orgId, from } = await arrangeTwoReadyStories();
    const { column } = await ana.boardColumns.archive({ columnId: from });
    const said = await world.rows('select from activity where org_id = $1', orgId);
    expect(await ana.boardColumns.archive({ columnId: from })).toEqual({
      column,
      movedStories: 0,
      warnings: [],
    });
    expect(await world.rows('select from activity where org_id = $1', orgId)).toHaveLength(said.length);
  });

  it('needs a target for stories, on the same board, and still on it', async () => {
    const { ana, orgId, projectId, from, to } = await arrangeTwoReadyStories();
    const { orgId: elsewhere } = await world.org();
    const other = await arrangeBoard(world, orgId, { key: 'APP' });
    const foreign = await arrangeBoard(world, elsewhere);
    await ana.stories.create({ projectId, title: 'x', columnId: from });
    const archive = (moveStoriesToColumnId?: string) =>
      ana.boardColumns.archive({ columnId: from, ...(moveStoriesToColumnId && { moveStoriesToColumnId }) });
    await expect(archive()).rejects.toMatchObject({ status: 422, reason: 'column_not_empty' });
    await expect(archive(other.columns.ready)).rejects.toMatchObject({
      status: 422,
      reason: 'mismatched_project',
    });
    await expect(archive(foreign.columns.ready)).rejects.toMatchObject({ code: 'not_found' });
    await expect(archive(newId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(archive(from)).rejects.toMatchObject({ status: 400 });
    await ana.boardColumns.archive({ columnId: to });
    await expect(archive(to)).rejects.toMatchObject({ code: 'not_found' });
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('keeps a column for backlog and one for done, but no other', async () => {
    const { ana, projectId, columns, from } = await arrangeTwoReadyStories();
    for (const columnId of [columns.backlog, columns.done]) {
      await expect(ana.boardColumns.archive({ columnId })).rejects.toMatchObject({
        status: 422,
        reason: 'last_column',
      });
    }
    await ana.boardColumns.archive({ columnId: from });
    for (const columnId of [columns.in_progress, columns.in_review])
      await ana.boardColumns.archive({ columnId });
    expect((await ana.boardColumns.list({ projectId })).items.map(({ name }) => name)).toEqual([
      'backlog',
      'Ready too',
      'done',
    ]);
  });

  it('lets only one of the last two go', async () => {
    const { ana, ben, projectId, columns } = await arrangeTwoReadyStories();
    const { column } = await ana.boardColumns.create({ projectId, name: 'Shipped', status: 'done' });
    const outcomes = await world.runUnderContention(
      { table: 'board_columns', id: columns.backlog },
      () => ana.boardColumns.archive({ columnId: columns.done }),
      () => ben.boardColumns.archive({ columnId: column.id }),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({ reason: 'last_column' });
  });

  it('leaves no story behind when stories are moved and made in it at the same moment', async () => {
    for (const archiveFirst of [true, false]) {
      const { ana, ben, chloe, robo, projectId, from, to } = await arrangeTwoReadyStories();
      const { story: mine } = await chloe.stories.create({ projectId, title: 'comes' });
      const { story: theirs } = await chloe.stories.create({ projectId, title: 'goes', columnId: from });
      const { story: third } = await chloe.stories.create({ projectId, title: 'goes along', columnId: to });
      const archive = () => ana.boardColumns.archive({ columnId: from, moveStoriesToColumnId: to });
      const moves = [
        () => ben.stories.updateStatus({ storyId: mine.id, status: 'ready', columnId: from }),
        () => chloe.stories.updateStatus({ storyId: theirs.id, status: 'in_progress' }),
        () => robo.stories.create({ projectId, title: 'new', columnId: from }),
        () => ben.stories.reorder({ storyId: third.id, columnId: from }),
      ];
      const calls = archiveFirst ? [archive, ...moves] : [...moves, archive];
      const outcomes = await world.runUnderContention<unknown>(
        { table: 'board_columns', id: from },
        ...calls,
      );
      for (const outcome of outcomes) {
        // A move that comes after the archiving no longer finds the column.
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' });
      }
      expect(await world.rows('select id from stories where column_id = $1', from)).toEqual([]);
      expect(await wrongCounts(world, projectId)).toEqual([]);
    }
  });

  describe('into a column of another status', () => {
    /** Creates a column for ready with two stories, one of them in an epic. */
    async function arrange(policy: object = {}) {
      const arranged = await arrangeTwoReadyStories();
      const { ana, orgId, projectId, from } = arranged;
      await policyOf(orgId, policy);
      const { epic } = await ana.epics.create({ projectId, title: 'Sign in' });
      const first = await ana.stories.create({ projectId, title: 'a', columnId: from, epicId: epic.id });
      const second = await ana.stories.create({ projectId, title: 'b', columnId: from });
      return { ...arranged, epic, first: first.story, second: second.story };
    }
    const policyOf = (orgId: string, policy: object) =>
      world.rows('update orgs set policy = $2 where id = $1', orgId, policy);

    it('changes the status of each story as a move does, and says so', async () => {
      const { ana, orgId, projectId, columns, from, epic, first, second } = await arrange();
      const { column } = await ana.boardColumns.create({ projectId, name: 'Shipped', status: 'done' });
      const moved = await ana.boardColumns.archive({ columnId: from, moveStoriesToColumnId: column.id });
      expect(moved.movedStories).toBe(2);
      for (const { id } of [first, second]) {
        const { story } = await ana.stories.get({ storyId: id });
        expect(story).toMatchObject({ status: 'done', columnId: column.id, version: 2 });
        expect(story.completedAt).toBe(story.updatedAt);
      }
      expect(await wrongCounts(world, projectId)).toEqual([]);
      const counted = await world.rows('select done_count from epics where id = $1', epic.id);
      expect(counted).toEqual([{ done_count: 1 }]);
      const said = { kind: 'story.statusChanged', data: { from: 'ready', to: 'done', columnId: column.id } };
      expect(
        await world.rows(
          'select kind, data from activity where org_id = $1 order by seq desc limit 3',
          orgId,
        ),
      ).toEqual([{ kind: 'column.archived', data: { movedStories: 2 } }, said, said]);

      // The way back: from done, stories only move to a status in which they may be reopened.
      const back = (to: string) =>
        ana.boardColumns.archive({ columnId: column.id, moveStoriesToColumnId: to });
      await expect(back(columns.in_review)).rejects.toMatchObject({ reason: 'invalid_transition' });
      await back(columns.backlog);
      const { story } = await ana.stories.get({ storyId: first.id });
      expect(story).toMatchObject({ status: 'backlog', completedAt: null });
      expect(await wrongCounts(world, projectId)).toEqual([]);
    });

    it('lets none in that could not move there by itself', async () => {
      const { ana, ben, orgId, projectId, columns, from, first, second } = await arrange();
      const archiveInto = (to: string) =>
        ana.boardColumns.archive({ columnId: from, moveStoriesToColumnId: to });
      const refusedFor = (storyId: string, ...unmet: object[]) => ({
        status: 422,
        body: { details: { reason: 'policy', storyId, unmet } },
      });
      await policyOf(orgId, { requireSpecToStart: true });
      await ana.storySpec.update({ storyId: first.id, content: 'x' });
      await ana.storySpec.update({ storyId: second.id, content: ' ' });
      await expect(archiveInto(columns.in_progress)).rejects.toMatchObject(
        refusedFor(second.id, { gate: 'requireSpecToStart' }),
      );
      await policyOf(orgId, { requiredApprovals: 1 });
      await ana.reviewers.add({ storyId: first.id, memberId: ben.me.memberId });
      await ben.reviewers.setVerdict({ storyId: first.id, verdict: 'approved' });
      await expect(archiveInto(columns.done)).rejects.toMatchObject(
        refusedFor(second.id, { gate: 'requiredApprovals', required: 1, fresh: 0 }),
      );
      await policyOf(orgId, { requireMergeProof: true });
      await expect(archiveInto(columns.done)).rejects.toMatchObject(
        refusedFor(first.id, { gate: 'requireMergeProof' }),
      );
      await policyOf(orgId, { agentsMayComplete: false });
      const agent = await world.token(orgId, ana.me.memberId, { agent: 'Max' });
      await expect(
        agent.boardColumns.archive({ columnId: from, moveStoriesToColumnId: columns.done }),
      ).rejects.toMatchObject(refusedFor(first.id, { gate: 'agentsMayComplete' }));
      expect(await world.rows('select id from stories where column_id = $1', from)).toHaveLength(2);
      expect(await wrongCounts(world, projectId)).toEqual([]);
    });

    it('keeps the limit of the column, as the policy wants it', async () => {
      const { ana, orgId, columns, from } = await arrange({ wipLimits: 'block' });
      const into = { columnId: from, moveStoriesToColumnId: columns.in_progress };
      await world.rows('update board_columns set wip_limit = 1 where id = $1', columns.in_progress);
      await expect(ana.boardColumns.archive(into)).rejects.toMatchObject({ reason: 'wip_limit' });
      await policyOf(orgId, { wipLimits: 'warn' });
      const { warnings } = await ana.boardColumns.archive(into);
      expect(warnings).toMatchObject([{ code: 'wip_limit', columnId: columns.in_progress }]);
    });
  });

  it('moves 5,000 stories and keeps their order', async () => {
    const { ana, orgId, projectId, from, to } = await arrangeTwoReadyStories();
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select $1, gen_random_uuid(), $2, n, 'x', 'ready', $3, 'a' || lpad(n::text, 6, '0'), '{}' from generate_series(1, 5000) n`,
      orgId,
      projectId,
      from,
    );
    expect((await ana.boardColumns.archive({ columnId: from, moveStoriesToColumnId: to })).movedStories).toBe(
      5000,
    );
    expect(await wrongCounts(world, projectId)).toEqual([]);
    const order = await world.rows<{ number: number }>(
      'select number from stories where column_id = $1 order by rank',
      to,
    );
    expect(order.map(({ number }) => number)).toEqual(order.map((_, index) => index + 1));
  });
});
