import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { stories } from '../stories/handlers.ts';
import { epics } from './handlers.ts';

const world = useWorld({ epics, stories });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    'select kind, data from activity where org_id = $1 order by seq',
    orgId,
  );

describe('epics.create', () => {
  it('makes an open epic that has no stories yet', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({
      projectId: 'web',
      title: ' Sign-in ',
      color: '#3366cc',
      targetDate: '2026-12-24',
    });
    expect(boardRegistry.epics.create.result.parse({ epic })).toEqual({ epic });
    expect(epic).toMatchObject({
      projectId,
      title: 'Sign-in',
      description: null,
      color: '#3366cc',
      targetDate: '2026-12-24',
      status: 'open',
      progress: { total: 0, done: 0 },
      version: 1,
    });
    expect((await chloe.epics.list({ projectId })).items).toEqual([epic]);
    expect(
      await world.rows('select kind, project_id, subject from activity where org_id = $1', orgId),
    ).toEqual([
      {
        kind: 'epic.created',
        project_id: projectId,
        subject: { type: 'epic', id: epic.id, key: null, title: 'Sign-in' },
      },
    ]);
  });

  it('is not for viewers, and not for archived projects', async () => {
    const { orgId, chloe, dan } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    await expect(dan.epics.create({ projectId, title: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
    await world.rows('update projects set archived_at = now() where id = $1', projectId);
    await expect(chloe.epics.create({ projectId, title: 'x' })).rejects.toMatchObject({ reason: 'archived' });
    expect(await world.rows('select id from epics where project_id = $1', projectId)).toEqual([]);
  });
});

describe('epics.update', () => {
  it('changes what is given, clears what is null, and says which fields', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({
      projectId,
      title: 'A',
      description: 'Why',
      color: '#3366cc',
      targetDate: '2026-12-24',
    });
    const { epic: changed } = await chloe.epics.update({
      epicId: epic.id,
      title: 'A',
      description: null,
      targetDate: null,
      status: 'done',
      expectedVersion: 1,
    });
    expect(changed).toEqual({
      ...epic,
      description: null,
      targetDate: null,
      status: 'done',
      version: 2,
      updatedAt: changed.updatedAt,
    });
    expect((await chloe.epics.list({ projectId, status: 'done' })).items).toEqual([changed]);
    expect((await eventsOf(orgId)).at(-1)).toEqual({
      kind: 'epic.updated',
      data: { fields: ['description', 'targetDate', 'status'] },
    });
  });

  it('changes nothing and says nothing when nothing is new', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    expect(
      (await chloe.epics.update({ epicId: epic.id, title: 'A', description: null, color: null })).epic,
    ).toEqual(epic);
    await expect(
      chloe.epics.update({ epicId: epic.id, title: 'A', expectedVersion: 2 }),
    ).rejects.toMatchObject({
      reason: 'version_mismatch',
      body: { details: { currentVersion: 1 } },
    });
    expect(await eventsOf(orgId)).toHaveLength(1);
  });

  it('lets one of two with the same version through', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    const outcomes = await world.runUnderContention(
      { table: 'epics', id: epic.id },
      () => ana.epics.update({ epicId: epic.id, title: 'B', expectedVersion: 1 }),
      () => chloe.epics.update({ epicId: epic.id, title: 'C', expectedVersion: 1 }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('epics.list', () => {
  it('goes oldest first, a page at a time, with the progress of each', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const made: string[] = [];
    for (const title of ['A', 'B', 'C']) made.push((await chloe.epics.create({ projectId, title })).epic.id);
    const [first, second] = made;
    for (const status of ['ready', 'done', 'done', 'backlog'] as const) {
      await chloe.stories.create({ projectId, title: 'x', status, epicId: first ?? '' });
    }
    const { story } = await chloe.stories.create({ projectId, title: 'x', epicId: second ?? '' });
    await chloe.stories.updateStatus({ storyId: story.id, status: 'canceled' });

    const page = await chloe.epics.list({ projectId, limit: 2 });
    expect(page.items.map(({ id, progress }) => [id, progress])).toEqual([
      [first, { total: 4, done: 2 }],
      [second, { total: 0, done: 0 }],
    ]);
    const rest = await chloe.epics.list({ projectId: 'web', limit: 2, cursor: page.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ id: made[2] }], nextCursor: null });
    expect((await chloe.epics.list({ projectId, status: 'canceled' })).items).toEqual([]);
    await expect(chloe.epics.list({ projectId, cursor: 'x' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('epics.delete', () => {
  it('leaves its stories without an epic, and as they were otherwise', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    const { epic: other } = await chloe.epics.create({ projectId, title: 'B' });
    const { story } = await chloe.stories.create({ projectId, title: 'x', epicId: epic.id, status: 'done' });
    await world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id)
       select $1, 'epic', unnest($2::uuid[]), $3, $4`,
      orgId,
      [epic.id, other.id],
      projectId,
      ana.me.memberId,
    );
    await expect(chloe.epics.delete({ epicId: epic.id })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await ana.epics.delete({ epicId: epic.id })).toEqual({ deleted: true });
    const { story: left } = await chloe.stories.get({ storyId: story.id });
    expect(left).toEqual({ ...story, epicId: null, version: story.version + 1, updatedAt: left.updatedAt });
    const since = { projectId, updatedSince: new Date(Date.parse(story.updatedAt) + 1).toISOString() };
    expect((await chloe.stories.list(since)).items.map(({ id }) => id)).toEqual([story.id]);
    expect((await chloe.epics.list({ projectId })).items).toEqual([other]);
    expect(await world.rows('select target_id from assignments where org_id = $1', orgId)).toEqual([
      { target_id: other.id },
    ]);
    expect(await wrongCounts(world, projectId)).toEqual([]);
    await expect(ana.epics.delete({ epicId: epic.id })).rejects.toMatchObject({ code: 'not_found' });
    expect((await eventsOf(orgId)).at(-1)).toEqual({ kind: 'epic.deleted', data: {} });
  });

  it('races with stories that enter and leave it, and no count is lost', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    const { epic: other } = await chloe.epics.create({ projectId, title: 'B' });
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        chloe.stories.create({ projectId, title: 'x', epicId: n % 2 === 0 ? epic.id : other.id }),
      ),
    );
    const calls = made.map(
      ({ story }, n) =>
        () =>
          (n % 2 === 0 ? chloe : ben).stories.update({
            storyId: story.id,
            epicId: n % 2 === 0 ? other.id : epic.id,
          }),
    );
    await world.runUnderContention<unknown>(
      { table: 'epics', id: epic.id },
      () => ana.epics.delete({ epicId: epic.id }),
      ...calls,
    );
    expect(await wrongCounts(world, projectId)).toEqual([]);
    expect(await world.rows('select id from stories where epic_id = $1', epic.id)).toEqual([]);
  });

  it('takes its stories before itself, as whoever moves a story between epics does: nobody waits in a circle', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    const { epic: other } = await chloe.epics.create({ projectId, title: 'B' });
    const { story } = await chloe.stories.create({ projectId, title: 'x', epicId: epic.id });
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'stories', id: story.id },
      () => chloe.stories.update({ storyId: story.id, epicId: other.id }),
      async () => {
        await world.waitUntilBlocked(1);
        return ana.epics.delete({ epicId: epic.id });
      },
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('is waited for by a story that is to come into it, which then finds none: nobody waits in a circle', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    const { epic } = await chloe.epics.create({ projectId, title: 'A' });
    await world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id) values ($1, 'epic', $2, $3, $4)`,
      ...[orgId, epic.id, projectId, ana.me.memberId],
    );
    const [deleted, created] = await world.runUnderContention<unknown>(
      { table: 'assignments', column: 'target_id', id: epic.id },
      () => ana.epics.delete({ epicId: epic.id }),
      async () => {
        await world.waitUntilBlocked(1);
        return chloe.stories.create({ projectId, title: 'x', epicId: epic.id });
      },
    );
    expect(deleted).toMatchObject({ status: 'fulfilled' });
    expect(created).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } });
  });

  it('is for nobody of another organization, nor for who cannot see the project', async () => {
    const { orgId, ana } = await world.org();
    const { chloe: stranger } = await world.org();
    const insider = await world.member(orgId, 'Eve', 'member');
    const { projectId } = await arrangeBoard(world, orgId, { visibility: 'private' });
    const { epic } = await ana.epics.create({ projectId, title: 'A' });
    for (const who of [stranger, insider]) {
      for (const epicId of [epic.id, newId()]) {
        await expect(who.epics.delete({ epicId })).rejects.toMatchObject({ code: 'not_found' });
        await expect(who.epics.update({ epicId, title: 'B' })).rejects.toMatchObject({ code: 'not_found' });
      }
      await expect(who.epics.list({ projectId })).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
