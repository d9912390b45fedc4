import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { removeInPortions } from '@muster/tenancy';
import { useWorld } from '@muster/testing';
import { arrangeBoard, noWorkHandlers } from '../../../test/board.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, epics, stories, comments, inside: noWorkHandlers });

/** Deletes the rows in batches, as the worker does later. */
const remove = (orgId: string, id: string): Promise<boolean> =>
  removeInPortions(world.database.app, {
    table: 'projects',
    key: { org_id: orgId, id },
    signal: new AbortController().signal,
  });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    'select kind, data from activity where org_id = $1 order by seq',
    orgId,
  );

describe('projects.delete', () => {
  it('takes everything in the project along, and only that; what was recorded of it stays', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const ids: string[] = [];
    for (const key of ['WEB', 'APP']) {
      ids.push((await ana.projects.create({ key, name: key })).project.id);
      const { epic } = await chloe.epics.create({ projectId: key, title: 'x' });
      for (const status of ['ready', 'backlog'] as const) {
        await chloe.stories.create({ projectId: key, title: 'x', status, epicId: epic.id, spec: '# x' });
      }
      await chloe.stories.update({ storyId: `${key}-1`, blockedBy: [`${key}-2`] });
      await chloe.stories.updateStatus({ storyId: `${key}-2`, status: 'canceled' });
      await chloe.comments.create({ storyId: `${key}-1`, body: 'x' });
      await chloe.stories.select({ storyId: `${key}-1` });
      await ana.projects.update({ projectId: key, archived: key === 'WEB' });
    }
    const left = () =>
      world.rows<{ rows: string }>(
        `select (select count(*) from projects where org_id = $1) || ' ' || (select count(*) from project_counters where org_id = $1)
           || ' ' || (select count(*) from project_members where org_id = $1) || ' ' || (select count(*) from board_columns where org_id = $1)
           || ' ' || (select count(*) from epics where org_id = $1) || ' ' || (select count(*) from stories where org_id = $1)
           || ' ' || (select count(*) from story_specs where org_id = $1) || ' ' || (select count(*) from story_blockers where org_id = $1)
           || ' ' || (select count(*) from comments where org_id = $1) as rows`,
        orgId,
      );
    expect(await left()).toEqual([{ rows: '2 2 2 10 2 4 4 2 2' }]);
    const before = await eventsOf(orgId);
    expect(await ben.projects.delete({ projectId: 'web', confirmKey: 'WEB' })).toEqual({ deleted: true });
    expect(await remove(orgId, ids[0] ?? '')).toBe(true);
    expect(await left()).toEqual([{ rows: '1 1 1 5 1 2 2 1 1' }]);
    expect(await eventsOf(orgId)).toEqual([...before, { kind: 'project.deleted', data: { stories: 2 } }]);
    const seen = await world.rows(
      `select project_id, subject from activity where org_id = $1 and kind = 'project.deleted'`,
      orgId,
    );
    expect(seen).toMatchObject([{ project_id: null, subject: { type: 'project', key: 'WEB' } }]);
    await expect(ana.projects.get({ projectId: 'WEB' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(ana.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('wants the key exactly as it is shown', async () => {
    const { ana } = await world.org();
    await ana.projects.create({ key: 'WEB', name: 'Web' });
    for (const confirmKey of ['web', 'WE', 'WEB ']) {
      await expect(ana.projects.delete({ projectId: 'WEB', confirmKey })).rejects.toMatchObject({
        status: 422,
        reason: 'confirmation_mismatch',
      });
    }
    await ana.projects.get({ projectId: 'WEB' });
  });

  it('is for admins, private projects too, and never for another organization or a token bound to projects', async () => {
    const { orgId, ben, chloe } = await world.org();
    const { ana: stranger } = await world.org();
    const { project } = await chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'private' });
    const other = await arrangeBoard(world, orgId, { key: 'APP' });
    const params = { projectId: project.id, confirmKey: 'WEB' };
    await expect(chloe.projects.delete(params)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(stranger.projects.delete(params)).rejects.toMatchObject({ code: 'not_found' });
    await expect(stranger.projects.delete({ ...params, projectId: newId() })).rejects.toMatchObject({
      code: 'not_found',
    });
    for (const projectIds of [[other.projectId], [project.id]]) {
      const bound = await world.token(orgId, ben.me.memberId, { projectIds });
      await expect(bound.projects.delete(params)).rejects.toMatchObject({ reason: 'bound_token' });
    }
    await ben.projects.delete(params);
    const audited = await world.rows(
      `select outcome from audit where org_id = $1 and operation = 'projects.delete' order by seq`,
      orgId,
    );
    expect(audited).toEqual(['denied', 'denied', 'denied', 'allowed'].map((outcome) => ({ outcome })));
    // Only members who could see the project see its deletion. For a private project no member does.
    expect(await world.rows('select project_id from activity where org_id = $1', orgId)).toEqual([
      { project_id: project.id },
      { project_id: project.id },
    ]);
  });

  it('races with stories that are made in it, and leaves none of them', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { project, columns } = await ana.projects.create({ key: 'WEB', name: 'Web' });
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'board_columns', id: columns[0]?.id ?? '' },
      () => chloe.stories.create({ projectId: 'WEB', title: 'a' }),
      () => ana.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' }),
      () => chloe.stories.create({ projectId: 'WEB', title: 'b' }),
    );
    expect(outcomes[1]?.status).toBe('fulfilled');
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' });
    expect(await remove(orgId, project.id)).toBe(true);
    expect(await world.rows('select id from stories where project_id = $1', project.id)).toEqual([]);
    expect((await eventsOf(orgId)).at(-1)).toMatchObject({ kind: 'project.deleted' });
  });

  it('is done at once, however much is in it, and nobody sees anything of it before the worker has removed it', async () => {
    const { orgId, ana } = await world.org();
    const { project, columns } = await ana.projects.create({ key: 'WEB', name: 'Web' });
    await world.database.owner.query(`
      begin;
      select set_config('muster.counts', 'by hand', true);
      insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
        select '${orgId}', gen_random_uuid(), '${project.id}', n, 'x', 'backlog', '${columns[0]?.id ?? ''}', lpad(n::text, 6, '0'), '{}'
        from generate_series(1, 200) n;
      update board_columns set story_count = 200 where id = '${columns[0]?.id ?? ''}';
      insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
        select s.org_id, gen_random_uuid(), s.id, 'comment', 'x', '{}', '${ana.me.memberId}'
        from stories s, generate_series(1, 20) where s.project_id = '${project.id}';
      commit`);
    /**
     * Fingerprints the transactions that last wrote or locked each row. The bytes of the WAL would include
     * writes of other specs.
     */
    const touched = () =>
      world.rows(
        `select count(*)::int as rows, sum(hashtext(xmin::text || ' ' || xmax::text)) as by from (
           select xmin, xmax from stories where project_id = $1
           union all select c.xmin, c.xmax from comments c join stories s on s.id = c.story_id where s.project_id = $1) r`,
        project.id,
      );
    const before = await touched();
    await ana.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' });
    expect(before).toEqual([{ rows: 4_200, by: expect.anything() }]);
    expect(await touched()).toEqual(before);
    expect((await eventsOf(orgId)).at(-1)).toEqual({ kind: 'project.deleted', data: { stories: 200 } });

    const [story] = await world.rows<{ id: string }>(
      'select id from stories where project_id = $1 limit 1',
      project.id,
    );
    for (const call of [
      ana.projects.get({ projectId: project.id }),
      ana.stories.get({ storyId: story?.id ?? '' }),
      ana.stories.get({ storyId: 'WEB-1' }),
      ana.comments.list({ storyId: story?.id ?? '' }),
      ana.comments.create({ storyId: story?.id ?? '', body: 'x' }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'not_found' });
    expect((await ana.projects.list({ includeArchived: true })).items).toEqual([]);
    // The key of a deleted project is free immediately. A new project with this key contains nothing of the
    // deleted project.
    const again = await ana.projects.create({ key: 'WEB', name: 'Web' });
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toEqual([]);
    await ana.stories.create({ projectId: 'WEB', title: 'new' });
    expect(await remove(orgId, project.id)).toBe(true);
    expect(await world.rows('select title from stories where org_id = $1', orgId)).toEqual([
      { title: 'new' },
    ]);
    expect(await world.rows('select id from projects where org_id = $1', orgId)).toEqual([
      { id: again.project.id },
    ]);
    expect(await world.rows('select from comments where org_id = $1', orgId)).toEqual([]);
  });
});
