import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { boardColumns } from './handlers.ts';

const world = useWorld({ boardColumns, stories });

const lastEvent = async (orgId: string) =>
  (
    await world.rows(
      'select kind, subject, data from activity where org_id = $1 order by seq desc limit 1',
      orgId,
    )
  )[0];

/**
 * Returns the names of the columns from left to right. Expects that their positions are 0, 1, 2 and so on.
 */
async function listColumnNames(person: PersonOf<typeof world>, projectId: string): Promise<string[]> {
  const { items } = await person.boardColumns.list({ projectId });
  expect(items.map(({ position }) => position)).toEqual(items.map((_, index) => index));
  return items.map(({ name }) => name);
}

describe('boardColumns.create', () => {
  it('adds a column at the end, or right after another, and the rest move over', async () => {
    const { orgId, ana } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const { column: end } = await ana.boardColumns.create({
      projectId: 'web',
      name: ' Shipped ',
      status: 'done',
    });
    expect(boardRegistry.boardColumns.create.result.parse({ column: end })).toEqual({ column: end });
    expect(end).toMatchObject({
      projectId,
      name: 'Shipped',
      status: 'done',
      position: 5,
      wipLimit: null,
      version: 1,
    });
    const { column } = await ana.boardColumns.create({
      projectId,
      name: 'Design',
      status: 'ready',
      wipLimit: 3,
      afterColumnId: columns.ready,
    });
    expect(column).toMatchObject({ position: 2, wipLimit: 3 });
    expect(await listColumnNames(ana, projectId)).toEqual([
      'backlog',
      'ready',
      'Design',
      'in_progress',
      'in_review',
      'done',
      'Shipped',
    ]);
    const { items } = await ana.boardColumns.list({ projectId });
    expect(items.map(({ version }) => version)).toEqual([1, 1, 1, 2, 2, 2, 2]);
    expect(items[2]).toEqual({ ...column, storyCount: 0 });
    expect(await lastEvent(orgId)).toEqual({
      kind: 'column.created',
      subject: { type: 'column', id: column.id, key: null, title: 'Design' },
      data: { status: 'ready' },
    });
  });

  it('goes after no column of another project, another organization, or nowhere, and after none that was archived', async () => {
    const { orgId, ana } = await world.org();
    const { orgId: elsewhere } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const other = await arrangeBoard(world, orgId, { key: 'APP' });
    const foreign = await arrangeBoard(world, elsewhere);
    const after = (afterColumnId: string) =>
      ana.boardColumns.create({ projectId, name: 'x', status: 'ready', afterColumnId });
    await ana.boardColumns.archive({ columnId: columns.in_review });
    await expect(after(other.columns.ready)).rejects.toMatchObject({ reason: 'mismatched_project' });
    for (const id of [foreign.columns.ready, newId(), columns.in_review]) {
      await expect(after(id)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await listColumnNames(ana, projectId)).toEqual(['backlog', 'ready', 'in_progress', 'done']);
  });

  it('stops at 50 active columns, also when many are added at once', async () => {
    const { orgId, ana, ben } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    await ana.boardColumns.archive({ columnId: columns.in_review });
    await world.rows(
      `insert into board_columns (org_id, project_id, id, name, status, position)
       select $1, $2, gen_random_uuid(), 'x', 'ready', n from generate_series(4, 46) n`,
      orgId,
      projectId,
    );
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? ana : ben).boardColumns.create({ projectId, name: 'y', status: 'ready' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ reason: 'limit_exceeded' });
    }
    expect(await listColumnNames(ana, projectId)).toHaveLength(50);
  });

  it('is for leads, on boards that are not archived', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    await expect(chloe.boardColumns.create({ projectId, name: 'x', status: 'ready' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await world.rows('update projects set archived_at = now() where id = $1', projectId);
    await expect(ana.boardColumns.create({ projectId, name: 'x', status: 'ready' })).rejects.toMatchObject({
      reason: 'archived',
    });
    expect(await listColumnNames(ana, projectId)).toHaveLength(5);
  });
});

describe('boardColumns.list', () => {
  it('goes from left to right, each with its number of stories; archived ones only when asked for', async () => {
    const { orgId, ana, dan } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    for (const status of ['ready', 'ready', 'done'] as const)
      await ana.stories.create({ projectId, title: 'x', status });
    await ana.boardColumns.archive({ columnId: columns.in_progress });
    const { items, nextCursor } = await dan.boardColumns.list({ projectId: 'WEB' });
    expect(items.map(({ status, storyCount }) => [status, storyCount])).toEqual([
      ['backlog', 0],
      ['ready', 2],
      ['in_review', 0],
      ['done', 1],
    ]);
    expect(nextCursor).toBeNull();
    const all = await dan.boardColumns.list({ projectId, includeArchived: true });
    expect(all.items.slice(0, 4)).toEqual(items);
    expect(all.items[4]).toMatchObject({ id: columns.in_progress, archivedAt: expect.any(String) });
  });

  it('pages by one order, the archived ones behind the others', async () => {
    const { orgId, ana, dan } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    for (const columnId of [columns.in_review, columns.ready]) await ana.boardColumns.archive({ columnId });
    for (const includeArchived of [true, false]) {
      const whole = await dan.boardColumns.list({ projectId, includeArchived });
      for (const limit of [1, 2, 3]) {
        const pages: (typeof whole)['items'] = [];
        let cursor: string | null | undefined;
        do {
          const page = await dan.boardColumns.list({
            ...{ projectId, includeArchived, limit },
            ...(cursor && { cursor }),
          });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          pages.push(...page.items);
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(pages).toEqual(whole.items);
      }
      expect(whole.items).toHaveLength(includeArchived ? 5 : 3);
    }
  });
});

describe('boardColumns.update', () => {
  it('renames, limits and lifts the limit', async () => {
    const { orgId, ana } = await world.org();
    const { columns } = await arrangeBoard(world, orgId);
    const columnId = columns.ready;
    const { column } = await ana.boardColumns.update({
      columnId,
      name: 'Next',
      wipLimit: 5,
      expectedVersion: 1,
    });
    expect(column).toMatchObject({ name: 'Next', wipLimit: 5, version: 2 });
    expect(await lastEvent(orgId)).toMatchObject({
      kind: 'column.updated',
      subject: { title: 'Next' },
      data: { fields: ['name', 'wipLimit'] },
    });
    expect((await ana.boardColumns.update({ columnId, name: 'Next' })).column).toEqual(column);
    const { column: lifted } = await ana.boardColumns.update({ columnId, wipLimit: null });
    expect(lifted).toMatchObject({ name: 'Next', wipLimit: null, version: 3 });
    expect(await world.rows('select from activity where org_id = $1', orgId)).toHaveLength(2);
    await expect(
      ana.boardColumns.update({ columnId, name: 'Next', expectedVersion: 2 }),
    ).rejects.toMatchObject({
      reason: 'version_mismatch',
      body: { details: { currentVersion: 3 } },
    });
  });
});

describe('boardColumns.reorder', () => {
  it('puts the columns in the order given; those that stay are left alone', async () => {
    const { orgId, ana } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const columnIds = [columns.ready, columns.backlog, columns.in_progress, columns.in_review, columns.done];
    const { items } = await ana.boardColumns.reorder({ projectId, columnIds });
    expect(items.map(({ id, position, version }) => [id, position, version])).toEqual(
      columnIds.map((id, position) => [id, position, position < 2 ? 2 : 1]),
    );
    const listed = await ana.boardColumns.list({ projectId });
    expect(listed.items).toEqual(items.map((item) => ({ ...item, storyCount: 0 })));
    expect(await lastEvent(orgId)).toMatchObject({
      kind: 'columns.reordered',
      subject: { type: 'project', key: 'WEB' },
      data: { columnIds },
    });
    expect((await ana.boardColumns.reorder({ projectId, columnIds })).items).toEqual(items);
    expect(await world.rows('select from activity where org_id = $1', orgId)).toHaveLength(1);
  });

  it('takes exactly the active ones, once each', async () => {
    const { orgId, ana } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const other = await arrangeBoard(world, orgId, { key: 'APP' });
    await ana.boardColumns.archive({ columnId: columns.in_review });
    const active = [columns.backlog, columns.ready, columns.in_progress, columns.done];
    const wrong = [
      [],
      active.slice(1),
      [...active, columns.ready],
      active.with(0, columns.ready),
      [...active, columns.in_review],
      active.with(0, columns.in_review),
      active.with(0, other.columns.backlog),
      active.with(0, newId()),
    ];
    for (const columnIds of wrong) {
      await expect(ana.boardColumns.reorder({ projectId, columnIds })).rejects.toMatchObject({
        status: 422,
        reason: 'incomplete_order',
      });
    }
    expect(await listColumnNames(ana, projectId)).toEqual(['backlog', 'ready', 'in_progress', 'done']);
  });

  it('racing with a column that is added leaves one order without a gap or a double', async () => {
    const { orgId, ana, ben } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const columnIds = Object.values(columns).reverse();
    const [reordered, created] = await world.runUnderContention<unknown>(
      { table: 'board_columns', id: columns.backlog },
      () => ana.boardColumns.reorder({ projectId, columnIds }),
      () =>
        ben.boardColumns.create({ projectId, name: 'New', status: 'ready', afterColumnId: columns.ready }),
    );
    expect(created?.status).toBe('fulfilled');
    // The two calls run one after the other. If the column is created first, the requested order lacks it and
    // is refused.
    if (reordered?.status === 'rejected')
      expect(reordered.reason).toMatchObject({ reason: 'incomplete_order' });
    const expected =
      reordered?.status === 'rejected'
        ? ['backlog', 'ready', 'New', 'in_progress', 'in_review', 'done']
        : ['done', 'in_review', 'in_progress', 'ready', 'New', 'backlog'];
    expect(await listColumnNames(ana, projectId)).toEqual(expected);
  });

  it('survives a storm of columns added, ordered and archived', async () => {
    const { orgId, ana, ben } = await world.org();
    const { projectId, columns } = await arrangeBoard(world, orgId);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 24 }, async (_, n): Promise<unknown> => {
        const who = n % 2 === 0 ? ana : ben;
        const { items } = await who.boardColumns.list({ projectId });
        if (n % 3 === 0)
          return who.boardColumns.create({
            projectId,
            name: `n${n}`,
            status: 'ready',
            afterColumnId: columns.backlog,
          });
        if (n % 3 === 1)
          return who.boardColumns.reorder({ projectId, columnIds: items.map(({ id }) => id).reverse() });
        return who.boardColumns.archive({
          columnId: items.findLast(({ status }) => status === 'ready')?.id ?? columns.ready,
        });
      }),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ reason: 'incomplete_order' });
    }
    await listColumnNames(ana, projectId);
  });
});
