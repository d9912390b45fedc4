import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

describe('stories.create', () => {
  it('puts a story at the end of the first backlog column, and says so', async () => {
    const { orgId, robo, chloe } = await world.org();
    const board = await arrangeBoard(world, orgId);
    const { story: first } = await robo.stories.create({ projectId: 'web', title: ' One ' });
    const { story: second } = await chloe.stories.create({
      projectId: board.projectId,
      title: 'Two\u200b',
      description: 'One line\r\nanother',
      labels: ['Bug', 'ux', 'bug'],
    });
    expect(first).toMatchObject({
      key: 'WEB-1',
      number: 1,
      title: 'One',
      status: 'backlog',
      columnId: board.columns.backlog,
      priority: 'none',
      version: 1,
      createdBy: { kind: 'agent', memberId: chloe.me.memberId, agentId: robo.me.agentId, name: 'Robo' },
    });
    expect(second).toMatchObject({
      ...{ key: 'WEB-2', title: 'Two', description: 'One line\nanother', labels: ['Bug', 'ux'] },
      ...{ blockedBy: [], git: null },
    });
    expect(second.rank > first.rank).toBe(true);
    expect(second.createdAt).toBe(second.updatedAt);
    expect((await chloe.stories.get({ storyId: 'web-2' })).story).toEqual(second);
    expect(
      await world.rows(
        'select kind, story_id, subject, data from activity where org_id = $1 order by seq',
        orgId,
      ),
    ).toMatchObject([
      { kind: 'story.created', story_id: first.id, subject: { key: 'WEB-1' }, data: { status: 'backlog' } },
      { kind: 'story.created', story_id: second.id },
    ]);
  });

  it('numbers 40 stories made at once without a gap or a double, at 40 places', async () => {
    const { orgId, ana, ben, chloe, robo } = await world.org();
    const board = await arrangeBoard(world, orgId);
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        ([ana, ben, chloe, robo][n % 4] ?? ana).stories.create({
          projectId: board.projectId,
          title: `Story ${n}`,
        }),
      ),
    );
    const numbers = made.map(({ story }) => story.number).sort((one, other) => one - other);
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    // The stories of the column are in the order of their numbers, because one lock protects both.
    const { items } = await ana.stories.list({ projectId: board.projectId });
    expect(items.map(({ number }) => number)).toEqual(numbers);
  });

  it('uses no number up when it fails', async () => {
    const { orgId, ana } = await world.org();
    await arrangeBoard(world, orgId);
    await expect(ana.stories.create({ projectId: 'WEB', title: 'x', epicId: newId() })).rejects.toMatchObject(
      { code: 'not_found' },
    );
    expect((await ana.stories.create({ projectId: 'WEB', title: 'x' })).story.number).toBe(1);
  });

  it('answers an Idempotency-Key once, with one story', async () => {
    const { orgId, ana } = await world.org();
    await arrangeBoard(world, orgId);
    const call = () => ana.stories.create({ projectId: 'WEB', title: 'x' }, { idempotencyKey: 'k' });
    expect(await call()).toEqual(await call());
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toHaveLength(1);
  });

  it('writes the first version of a spec with it', async () => {
    const { orgId, ana } = await world.org();
    await arrangeBoard(world, orgId);
    const { story } = await ana.stories.create({ projectId: 'WEB', title: 'x', spec: '# a\nb\n' });
    expect(story.specVersion).toBe(1);
    expect(
      await world.rows('select version, content, lines_added from story_specs where story_id = $1', story.id),
    ).toEqual([{ version: 1, content: '# a\nb\n', lines_added: 2 }]);
    expect(await world.rows('select kind, data from activity where org_id = $1 order by seq', orgId)).toEqual(
      [
        { kind: 'story.created', data: { status: 'backlog' } },
        { kind: 'spec.updated', data: { version: 1, linesAdded: 2, linesRemoved: 0 } },
      ],
    );
    expect((await ana.stories.create({ projectId: 'WEB', title: 'x', spec: '' })).story.specVersion).toBe(0);
  });

  it('goes to the column or to the first column of the status that is asked for', async () => {
    const { orgId, ana } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const make = async (params: object) =>
      (await ana.stories.create({ projectId, title: 'x', ...params })).story;
    expect(await make({ columnId: columns.in_review })).toMatchObject({
      status: 'in_review',
      columnId: columns.in_review,
    });
    expect(await make({ status: 'ready' })).toMatchObject({ status: 'ready', columnId: columns.ready });
    const done = await make({ status: 'done' });
    expect(done.completedAt).toBe(done.createdAt);
    await expect(make({ status: 'canceled' })).rejects.toMatchObject({ reason: 'invalid_transition' });
    await world.rows('update board_columns set archived_at = now() where id = $1', columns.in_review);
    await expect(make({ columnId: columns.in_review })).rejects.toMatchObject({ code: 'not_found' });
    await expect(make({ status: 'in_review' })).rejects.toMatchObject({ reason: 'invalid_transition' });
  });

  it('keeps the gates and the limits that a move keeps', async () => {
    const { orgId, ana } = await world.org({
      policy: { requireSpecToStart: true, requiredApprovals: 1, wipLimits: 'block' },
    });
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const make = (params: object) => ana.stories.create({ projectId, title: 'x', ...params });
    for (const spec of ['', ' \n\t'])
      await expect(make({ status: 'in_progress', spec })).rejects.toMatchObject({
        body: { details: { reason: 'policy', unmet: [{ gate: 'requireSpecToStart' }] } },
      });
    await make({ status: 'in_progress', spec: 'x' });
    await expect(make({ status: 'done' })).rejects.toMatchObject({
      body: { details: { reason: 'policy', unmet: [{ gate: 'requiredApprovals', required: 1, fresh: 0 }] } },
    });
    await world.rows('update board_columns set wip_limit = 1 where id = $1', columns.in_progress);
    await expect(make({ status: 'in_progress', spec: 'x' })).rejects.toMatchObject({
      body: { details: { reason: 'wip_limit', columnId: columns.in_progress, limit: 1 } },
    });
  });

  it('takes epic, column and blockers of its own project only, and tells nothing of what is hidden', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const open = await arrangeBoard(world, orgId, { key: 'API' });
    const hidden = await arrangeBoard(world, orgId, { key: 'HID', visibility: 'private' });
    const foreign = await world.org();
    const away = await arrangeBoard(world, foreign.orgId, { key: 'AWAY' });
    const strangers = [];
    for (const [person, project, expected] of [
      [ana, open, { reason: 'mismatched_project' }],
      [ana, hidden, { code: 'not_found' }],
      [foreign.ana, away, { code: 'not_found' }],
    ] as const) {
      const epicId = newId();
      const [owner] = await world.rows<{ org_id: string }>(
        'select org_id from projects where id = $1',
        project.projectId,
      );
      await world.rows(
        'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
        owner?.org_id,
        epicId,
        project.projectId,
        'E',
      );
      const { story } = await person.stories.create({ projectId: project.projectId, title: 'x' });
      strangers.push(
        { expected, params: { epicId } },
        { expected, params: { columnId: project.columns.ready } },
      );
      strangers.push(
        { expected, params: { blockedBy: [story.id] } },
        { expected, params: { blockedBy: [story.key] } },
      );
    }
    for (const { expected, params } of strangers) {
      await expect(chloe.stories.create({ projectId, title: 'x', ...params })).rejects.toMatchObject(
        expected,
      );
    }
    for (const params of [
      { epicId: newId() },
      { columnId: newId() },
      { blockedBy: [newId()] },
      { blockedBy: ['WEB-99'] },
    ]) {
      await expect(chloe.stories.create({ projectId, title: 'x', ...params })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    expect((await chloe.stories.list({ projectId })).items).toEqual([]);
  });

  it('takes blockers by id and key, each once', async () => {
    const { orgId, ana } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { story: one } = await ana.stories.create({ projectId, title: 'x' });
    const { story: two } = await ana.stories.create({ projectId, title: 'x' });
    const { story } = await ana.stories.create({
      projectId,
      title: 'x',
      blockedBy: ['web-2', one.id, two.id, 'WEB-1'],
    });
    expect(story.blockedBy).toEqual([one.id, two.id]);
    expect((await ana.stories.get({ storyId: story.id })).story).toEqual(story);
  });

  it('counts in its column and its epic', async () => {
    const { orgId, ana } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const epicId = newId();
    await world.rows(
      'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
      orgId,
      epicId,
      projectId,
      'E',
    );
    const { story } = await ana.stories.create({ projectId, title: 'x', epicId });
    expect(story.epicId).toBe(epicId);
    expect(await world.rows('select story_count from epics where id = $1', epicId)).toEqual([
      { story_count: 1 },
    ]);
    expect(await world.rows('select story_count from board_columns where id = $1', columns.backlog)).toEqual([
      { story_count: 1 },
    ]);
  });

  it('is refused to viewers, and in an archived project', async () => {
    const { orgId, ana, dan } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    await expect(dan.stories.create({ projectId, title: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
    await world.rows('update projects set archived_at = now() where id = $1', projectId);
    await expect(ana.stories.create({ projectId, title: 'x' })).rejects.toMatchObject({ reason: 'archived' });
  });
});
