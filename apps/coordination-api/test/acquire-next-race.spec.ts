/** Many who ask for the next story at once, beside those who take stories by name and move them. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/database';
import { type InputOf, type registry, type ResultOf } from '@muster/registry';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
type Operation = typeof registry.deliveryExecutions.acquireNext;
type Answer = ResultOf<Operation>;

let people: People;
beforeEach(async () => {
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
});

const next = (who: Person, asked: Partial<InputOf<Operation>> = {}): Promise<Answer> =>
  who.deliveryExecutions.acquireNext({ projectId: 'WEB', ...asked });

describe('many at once', () => {
  const ready = (count: number) =>
    api.world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select c.org_id, gen_random_uuid(), c.project_id, n, 'A story', 'ready', c.id, 'A' || lpad(n::text, 4, '0'), '{}'
       from board_columns c cross join generate_series(1, $2::int) n where c.org_id = $1 and c.status = 'ready'`,
      ...[people.orgId, count],
    );

  it.each([true, false])(
    'get different stories, and those behind the last are told why (start: %s)',
    async (start) => {
      await ready(40);
      const callers = [people.ana, people.ben, people.chloe, people.robo];
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          next(callers[index % callers.length] ?? people.ana, { runId: `run-${index}`, start }),
        ),
      );
      const given = answers.flatMap((answer) => answer.execution?.targetId ?? []);
      expect([given.length, new Set(given).size]).toEqual([40, 40]);
      const none = answers.filter((answer) => answer.execution === null);
      expect(none).toHaveLength(24);
      for (const answer of none) {
        expect(answer.skipped).toHaveLength(20);
        for (const { reasons } of answer.skipped) expect(reasons).toEqual(['lease_held']);
      }
      const [held] = await api.world.rows<{ n: number }>(
        `select count(*)::int as n from leases where org_id = $1 and state = 'held' and epoch = 1`,
        people.orgId,
      );
      expect(held?.n).toBe(40);
    },
  );

  it('meet no deadlock with those who take stories by name and move them, and no story has two holders', async () => {
    await ready(30);
    const { ana, ben, chloe, robo } = people;
    const deadlocks = async () =>
      (
        await api.world.rows<{ n: number }>(
          `select deadlocks::int as n from pg_stat_database where datname = current_database()`,
        )
      )[0]?.n;
    const before = await deadlocks();
    const asked = Array.from({ length: 24 }, (_, index) =>
      next(robo, { runId: newId(), start: index % 2 === 0 }),
    );
    const named = Array.from({ length: 30 }, (_, index) =>
      chloe.deliveryExecutions
        .acquire({ targetType: 'story', targetId: `WEB-${index + 1}`, start: index % 2 === 0 })
        .then(({ execution }) => execution.targetId)
        .catch((error: unknown) => {
          expect(error).toMatchObject({ reason: 'lease_held' });
        }),
    );
    const moved = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0
        ? ben.stories
            .reorder({ storyId: `WEB-${30 - index}`, beforeStoryId: 'WEB-15' })
            .catch(() => undefined)
        : ana.stories.update({ storyId: `WEB-${index}`, priority: 'high' }),
    );
    const byNext = (await Promise.all(asked)).flatMap(({ execution }) => execution?.targetId ?? []);
    const byName = (await Promise.all(named)).filter((id) => id !== undefined);
    await Promise.all(moved);
    expect(new Set([...byNext, ...byName]).size).toBe(byNext.length + byName.length);
    expect(byNext.length + byName.length).toBe(30);
    expect(await deadlocks()).toBe(before);
  });

  it('of two who want the last, the one who comes second by name leaves it to the first', async () => {
    await ready(1);
    const [{ id } = { id: '' }] = await api.world.rows<{ id: string }>(
      'select id from stories where org_id = $1',
      people.orgId,
    );
    const target = { targetType: 'story', targetId: 'WEB-1' } as const;
    const [byName, byNext] = await api.world.contend<unknown>(
      { table: 'stories', id },
      () => people.chloe.deliveryExecutions.acquire(target),
      () => next(people.robo, { start: false }),
    );
    const isTaken = byNext?.status === 'fulfilled' && (byNext.value as Answer).execution !== null;
    expect([byName?.status, isTaken]).toEqual(isTaken ? ['rejected', true] : ['fulfilled', false]);
  });
});
