import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type StoryStatus } from '@muster/contract';
import { type PeopleOf, waitUntil, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { canMove } from '../../rules/workflow.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories, storySpec });

let people: PeopleOf<typeof world>;
let board: TestBoard;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

const make = async (params: object = {}) =>
  (await people.ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const listEvents = (storyId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    `select kind, data from activity where org_id = $1 and story_id = $2 and kind <> 'story.created' order by seq`,
    people.orgId,
    storyId,
  );

describe('stories.updateStatus', () => {
  it('moves a story to the end of the first column of the status', async () => {
    const { ben } = people;
    const there = await make({ status: 'in_review' });
    const before = await make();
    const { story, warnings } = await ben.stories.updateStatus({
      storyId: before.key,
      status: 'in_review',
      expectedVersion: 1,
    });
    expect(story).toMatchObject({
      id: before.id,
      status: 'in_review',
      columnId: board.columns.in_review,
      version: 2,
      completedAt: null,
    });
    expect(story.rank > there.rank).toBe(true);
    expect(warnings).toEqual([]);
    expect((await ben.stories.get({ storyId: story.id })).story).toEqual(story);
    expect(await listEvents(story.id)).toEqual([
      {
        kind: 'story.statusChanged',
        data: { from: 'backlog', to: 'in_review', columnId: board.columns.in_review },
      },
    ]);
    expect(
      await world.rows(
        'select story_count from board_columns where org_id = $1 order by position',
        people.orgId,
      ),
    ).toEqual([0, 0, 0, 2, 0].map((story_count) => ({ story_count })));
  });

  it('warns of open blockers of a story that is done, and of no others', async () => {
    const { ana } = people;
    const [open, over] = [await make(), await make()];
    const note = 'Which limit?';
    const story = await make({ blockedBy: [open.id, over.id] });
    await ana.stories.update({
      ...{
        storyId: story.id,
        blocked: { kind: 'needs_input', note, unblockerMemberId: people.ben.me.memberId },
      },
    });
    expect(await ana.stories.updateStatus({ storyId: over.id, status: 'done' })).toMatchObject({
      warnings: [],
    });
    const begun = await ana.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
    expect(begun.warnings).toEqual([]);
    const done = await ana.stories.updateStatus({ storyId: story.id, status: 'done' });
    expect(done.story.status).toBe('done');
    const columnId = board.columns.done;
    expect(done.warnings).toEqual([
      { code: 'blocked_by', message: expect.stringContaining(`${open.key}, which it waits for,`), columnId },
      { code: 'blocked', message: expect.stringContaining(note), columnId },
    ]);
  });

  it('makes two people dragging the same card take turns', async () => {
    const { ana, ben } = people;
    const story = await make({ status: 'in_review' });
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      () => ana.stories.updateStatus({ storyId: story.id, status: 'done' }),
      () => ben.stories.updateStatus({ storyId: story.id, status: 'canceled' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused).toMatchObject({ reason: { reason: 'invalid_transition' } });
    expect(await listEvents(story.id)).toHaveLength(1);
  });

  it('lets two people who drag two cards in opposite directions both have their way', async () => {
    const { ana, ben } = people;
    const [there, back] = [await make({ status: 'ready' }), await make({ status: 'in_progress' })];
    for (let round = 0; round < 5; round += 1) {
      const [to, from] =
        round % 2 === 0 ? (['in_progress', 'ready'] as const) : (['ready', 'in_progress'] as const);
      const outcomes = await world.runUnderContention(
        { table: 'board_columns', id: board.columns.ready },
        () => ana.stories.updateStatus({ storyId: there.id, status: to }),
        () => ben.stories.updateStatus({ storyId: back.id, status: from }),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    }
  });

  it('changes nothing where the story is there, and says nothing of it', async () => {
    const { ana } = people;
    const story = await make();
    await make();
    expect(await ana.stories.updateStatus({ storyId: story.id, status: 'backlog' })).toEqual({
      story,
      warnings: [],
    });
    expect(
      await ana.stories.updateStatus({
        storyId: story.id,
        status: 'backlog',
        columnId: board.columns.backlog,
      }),
    ).toEqual({ story, warnings: [] });
    expect(await listEvents(story.id)).toEqual([]);
    const { story: canceled } = await ana.stories.updateStatus({ storyId: story.id, status: 'canceled' });
    expect((await ana.stories.updateStatus({ storyId: story.id, status: 'canceled' })).story).toEqual(
      canceled,
    );
  });

  it('knows the version that the caller read, also where nothing would change', async () => {
    const story = await make();
    for (const status of ['backlog', 'ready'] as const) {
      await expect(
        people.ana.stories.updateStatus({ storyId: story.id, status, expectedVersion: 9 }),
      ).rejects.toMatchObject({
        body: { code: 'conflict', details: { reason: 'version_mismatch', currentVersion: 1 } },
      });
    }
  });

  it('lets one of two who read the same version move it', async () => {
    const { ana, ben } = people;
    const story = await make();
    const move = (who: typeof ana, status: StoryStatus) => () =>
      who.stories.updateStatus({ storyId: story.id, status, expectedVersion: 1 });
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      move(ana, 'ready'),
      move(ben, 'in_progress'),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused).toMatchObject({ reason: { reason: 'version_mismatch' } });
    expect(await listEvents(story.id)).toHaveLength(1);
  });

  it('moves between columns of one status without a change of status', async () => {
    const { ana } = people;
    const second = newId();
    await world.rows(
      `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'QA', 'in_review', 7)`,
      people.orgId,
      second,
      board.projectId,
    );
    const story = await make({ status: 'in_review' });
    expect(story.columnId).toBe(board.columns.in_review);
    const { story: moved } = await ana.stories.updateStatus({
      storyId: story.id,
      status: 'in_review',
      columnId: second,
    });
    expect(moved).toMatchObject({ status: 'in_review', columnId: second, version: 2 });
    expect(await listEvents(story.id)).toEqual([{ kind: 'story.reordered', data: { columnId: second } }]);
  });

  it('takes a column of the status, of this project, that is active', async () => {
    const { ana } = people;
    const other = await arrangeBoard(world, people.orgId, { key: 'API' });
    const story = await make();
    const move = (columnId: string, status: StoryStatus = 'ready', read: object = {}) =>
      ana.stories.updateStatus({ storyId: story.id, status, columnId, ...read });
    await expect(move(board.columns.done)).rejects.toMatchObject({ reason: 'invalid_transition' });
    await expect(move(board.columns.ready, 'canceled')).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
    await expect(move(other.columns.ready)).rejects.toMatchObject({ reason: 'mismatched_project' });
    for (const read of [{}, { expectedVersion: 9 }])
      await expect(move(newId(), 'ready', read)).rejects.toMatchObject({ code: 'not_found' });
    const foreign = await world.org();
    const away = await arrangeBoard(world, foreign.orgId);
    await expect(move(away.columns.ready)).rejects.toMatchObject({ code: 'not_found' });
    await world.rows('update board_columns set archived_at = now() where id = $1', board.columns.ready);
    await expect(move(board.columns.ready)).rejects.toMatchObject({ code: 'not_found' });
    await expect(ana.stories.updateStatus({ storyId: story.id, status: 'ready' })).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
    expect(await listEvents(story.id)).toEqual([]);
  });

  it('lets exactly the moves of the workflow through', async () => {
    const { ana } = people;
    const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const;
    for (const from of statuses) {
      for (const to of statuses) {
        if (from === to) continue;
        const { id } = await make({ status: from === 'canceled' ? 'backlog' : from });
        if (from === 'canceled') await ana.stories.updateStatus({ storyId: id, status: from });
        const outcome = await ana.stories.updateStatus({ storyId: id, status: to }).then(
          ({ story }) => story.status,
          (error: unknown) => error,
        );
        if (canMove(from, to)) expect(outcome).toBe(to);
        else expect(outcome).toMatchObject({ body: { details: { reason: 'invalid_transition', from, to } } });
      }
    }
  });

  it('takes canceled stories off the board, and notes when a story was completed until it is reopened', async () => {
    const { ana } = people;
    const story = await make();
    const { story: canceled } = await ana.stories.updateStatus({ storyId: story.id, status: 'canceled' });
    expect(canceled).toMatchObject({ columnId: null, completedAt: canceled.updatedAt });
    expect(
      await world.rows(
        'select canceled_stories from project_counters where project_id = $1',
        board.projectId,
      ),
    ).toEqual([{ canceled_stories: 1 }]);
    const { story: reopened } = await ana.stories.updateStatus({ storyId: story.id, status: 'ready' });
    expect(reopened).toMatchObject({ columnId: board.columns.ready, completedAt: null });
    const { story: done } = await ana.stories.updateStatus({ storyId: story.id, status: 'done' });
    expect(done.completedAt).toBe(done.updatedAt);
    expect(
      await world.rows(
        'select canceled_stories from project_counters where project_id = $1',
        board.projectId,
      ),
    ).toEqual([{ canceled_stories: 0 }]);
  });

  it('lets stories be canceled, reopened and made at once without a deadlock', async () => {
    const { ana, ben } = people;
    const made = await Promise.all(Array.from({ length: 6 }, () => make()));
    await Promise.all(made.map(({ id }) => ana.stories.updateStatus({ storyId: id, status: 'canceled' })));
    const running = made.flatMap(({ id }) => [
      ben.stories.updateStatus({ storyId: id, status: 'backlog' }),
      make(),
    ]);
    expect(await Promise.all(running)).toHaveLength(12);
  });

  it('asks for what the policy asks for, and names what is missing', async () => {
    const strict = await world.org({ policy: { requireSpecToStart: true, requiredApprovals: 2 } });
    const { projectId } = await arrangeBoard(world, strict.orgId);
    const { story } = await strict.ana.stories.create({ projectId, title: 'x' });
    const move = (status: StoryStatus) => strict.ana.stories.updateStatus({ storyId: story.id, status });
    await expect(move('in_progress')).rejects.toMatchObject({
      body: { code: 'unprocessable', details: { reason: 'policy', unmet: [{ gate: 'requireSpecToStart' }] } },
    });
    await expect(move('done')).rejects.toMatchObject({
      body: { details: { reason: 'policy', unmet: [{ gate: 'requiredApprovals', required: 2, fresh: 0 }] } },
    });
    await strict.ana.storySpec.update({ storyId: story.id, content: 'As agreed' });
    expect((await move('in_progress')).story.status).toBe('in_progress');
    expect((await move('canceled')).story.status).toBe('canceled');
  });

  it('warns where a column is over its limit, blocks where the policy says so, and keeps quiet where it is off', async () => {
    for (const [wipLimits, outcome] of [
      ['warn', { warnings: [{ code: 'wip_limit' }] }],
      ['off', { warnings: [] }],
      ['block', { body: { details: { reason: 'wip_limit', limit: 1 } } }],
    ] as const) {
      const { orgId, ana } = await world.org({ policy: { wipLimits } });
      const { projectId, columns } = await arrangeBoard(world, orgId);
      await world.rows('update board_columns set wip_limit = 1 where id = $1', columns.ready);
      const [one, two] = [
        await ana.stories.create({ projectId, title: '1' }),
        await ana.stories.create({ projectId, title: '2' }),
      ];
      expect((await ana.stories.updateStatus({ storyId: one.story.id, status: 'ready' })).warnings).toEqual(
        [],
      );
      const result = await ana.stories
        .updateStatus({ storyId: two.story.id, status: 'ready' })
        .catch((error: unknown) => error);
      expect(result).toMatchObject(outcome);
    }
  });

  it('lets only one of two into the last place of a column', async () => {
    const { orgId, ana, ben } = await world.org({ policy: { wipLimits: 'block' } });
    const { projectId, columns } = await arrangeBoard(world, orgId);
    await world.rows('update board_columns set wip_limit = 1 where id = $1', columns.ready);
    const [one, two] = [
      await ana.stories.create({ projectId, title: '1' }),
      await ana.stories.create({ projectId, title: '2' }),
    ];
    const outcomes = await world.runUnderContention(
      { table: 'board_columns', id: columns.ready },
      () => ana.stories.updateStatus({ storyId: one.story.id, status: 'ready' }),
      () => ben.stories.updateStatus({ storyId: two.story.id, status: 'ready' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { reason: 'wip_limit' },
    });
  });

  it('makes a move and a deletion of one story take turns', async () => {
    const { ana, ben } = people;
    const { id } = await make();
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('update board_columns set name = name where id = $1', [board.columns.backlog]);
      const moving = ana.stories.updateStatus({ storyId: id, status: 'ready' });
      await world.waitUntilBlocked(1);
      const deleting = ben.stories.delete({ storyId: id });
      await world.waitUntilBlocked(2);
      await holder.query('commit');
      expect((await moving).story.status).toBe('ready');
      expect(await deleting).toEqual({ deleted: true });
    } finally {
      holder.release();
    }
  });

  it('holds no column while it waits for the one that its card was moved to meanwhile', async () => {
    const { ana, ben } = people;
    const story = await make();
    const { backlog, ready, in_progress } = board.columns;
    const mover = await world.database.owner.connect();
    const bystander = await world.database.owner.connect();
    try {
      await bystander.query('begin');
      const { rows } = await bystander.query<{ pid: number }>(
        'update board_columns set story_count = story_count + 1 where id = $1 returning pg_backend_pid() as pid',
        [ready],
      );
      // The mover's transaction moves the story to ready. Ana then moves the story to in_progress and waits
      // for the row of its old column, backlog. The mover disables triggers, because they would update the
      // story count of ready, whose row the bystander has locked.
      await mover.query('begin; set local session_replication_role = replica');
      await mover.query(`update stories set column_id = $2, status = 'ready', rank = 'z' where id = $1`, [
        story.id,
        ready,
      ]);
      await mover.query('update board_columns set story_count = story_count - 1 where id = $1', [backlog]);
      const moving = ana.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
      await world.waitUntilBlocked(1);
      await mover.query('commit');
      // The query finds a call of Ana that waits for the bystander's lock on ready. Her earlier wait for
      // backlog may stay visible for a while.
      const waitsForReady = 'select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))';
      await waitUntil(async () => (await world.rows(waitsForReady, rows[0]?.pid)).length > 0);
      const free = await bystander.query(
        'select from board_columns where id = any ($1) for no key update skip locked',
        [[backlog, in_progress]],
      );
      expect(free.rowCount).toBe(2);
      await bystander.query('commit');
      expect((await moving).story).toMatchObject({ status: 'in_progress', columnId: in_progress });
      expect((await ben.stories.get({ storyId: story.id })).story.columnId).toBe(in_progress);
      expect(await listEvents(story.id)).toMatchObject([{ data: { from: 'ready', to: 'in_progress' } }]);
    } finally {
      mover.release(true);
      bystander.release(true);
    }
  });

  it('gives a story that is made and one that is moved places of their own', async () => {
    const { ana, ben } = people;
    const story = await make();
    const outcomes = await world.runUnderContention(
      { table: 'board_columns', id: board.columns.ready },
      () => ana.stories.updateStatus({ storyId: story.id, status: 'ready' }),
      () => ben.stories.create({ projectId: board.projectId, title: 'y', status: 'ready' }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('moves on to the column that is first by now, when the one it waited for was archived', async () => {
    const { ana } = people;
    const story = await make();
    const second = newId();
    await world.rows(
      `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Next', 'ready', 7)`,
      people.orgId,
      second,
      board.projectId,
    );
    const archiving = await world.database.owner.connect();
    try {
      await archiving.query('begin');
      await archiving.query('update board_columns set archived_at = now() where id = $1', [
        board.columns.ready,
      ]);
      const moving = ana.stories.updateStatus({ storyId: story.id, status: 'ready' });
      const making = make({ status: 'ready' });
      await world.waitUntilBlocked(2);
      await archiving.query('commit');
      expect((await moving).story.columnId).toBe(second);
      expect((await making).columnId).toBe(second);
    } finally {
      archiving.release();
    }
  });

  it('is refused to viewers, and in an archived project', async () => {
    const story = await make();
    await expect(
      people.dan.stories.updateStatus({ storyId: story.id, status: 'ready' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(
      people.ana.stories.updateStatus({ storyId: story.id, status: 'ready' }),
    ).rejects.toMatchObject({ reason: 'archived' });
  });
});
