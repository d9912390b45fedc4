import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/database';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../arrange-board.ts';
import { comments } from '../comments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, epics, stories, comments });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    'select kind, data from activity where org_id = $1 order by seq',
    orgId,
  );

describe('projects.delete', () => {
  it('takes everything in the project along, and only that; what was recorded of it stays', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    for (const key of ['WEB', 'APP']) {
      await ana.projects.create({ key, name: key });
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

  it('is for admins, private projects too, and never for another organization or a token bound elsewhere', async () => {
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
    const bound = await world.token(orgId, ben.me.memberId, { projectIds: [other.projectId] });
    await expect(bound.projects.delete(params)).rejects.toMatchObject({ code: 'not_found' });
    await ben.projects.delete(params);
    const audited = await world.rows(
      `select outcome from audit where org_id = $1 and operation = 'projects.delete' order by seq`,
      orgId,
    );
    expect(audited).toEqual([{ outcome: 'denied' }, { outcome: 'allowed' }]);
    // Only who saw the project is to see that it went; of a private one, nobody.
    expect(await world.rows('select project_id from activity where org_id = $1', orgId)).toEqual([
      { project_id: project.id },
      { project_id: project.id },
    ]);
  });

  it('races with stories that are made in it, and leaves none of them', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { project, columns } = await ana.projects.create({ key: 'WEB', name: 'Web' });
    const outcomes = await world.contend<unknown>(
      { table: 'board_columns', id: columns[0]?.id ?? '' },
      () => chloe.stories.create({ projectId: 'WEB', title: 'a' }),
      () => ana.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' }),
      () => chloe.stories.create({ projectId: 'WEB', title: 'b' }),
    );
    expect(outcomes[1]?.status).toBe('fulfilled');
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' });
    expect(await world.rows('select id from stories where project_id = $1', project.id)).toEqual([]);
    expect((await eventsOf(orgId)).at(-1)).toMatchObject({ kind: 'project.deleted' });
  });

  it('takes a large board along, under the statement timeout', async () => {
    const { orgId, ana } = await world.org();
    const { project, columns } = await ana.projects.create({ key: 'WEB', name: 'Web' });
    await world.rows('alter table stories disable trigger stories_counted_in');
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select $1, gen_random_uuid(), $2, n, 'x', 'backlog', $3, 'a' || lpad(n::text, 6, '0'), '{}' from generate_series(1, 10000) n`,
      orgId,
      project.id,
      columns[0]?.id,
    );
    await world.rows('update board_columns set story_count = 10000 where id = $1', columns[0]?.id);
    await world.rows('alter table stories enable trigger stories_counted_in');
    await ana.projects.delete({ projectId: 'WEB', confirmKey: 'WEB' });
    expect((await eventsOf(orgId)).at(-1)).toEqual({ kind: 'project.deleted', data: { stories: 10_000 } });
  });
});
