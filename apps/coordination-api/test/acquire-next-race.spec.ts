/** Many concurrent requests for the next story, while other callers take stories by key and move them. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People, waitUntil } from '@muster/testing';
import { useApi } from './api.ts';
import { createWebProject, acquireNext, type NextWork } from './next-work.ts';

const api = useApi();

let people: People<AllHandlers>;
beforeEach(async () => {
  people = await createWebProject(api);
});

const ready = (count: number) =>
  api.world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select c.org_id, gen_random_uuid(), c.project_id, n, 'A story', 'ready', c.id, 'A' || lpad(n::text, 4, '0'), '{}'
     from board_columns c cross join generate_series(1, $2::int) n where c.org_id = $1 and c.status = 'ready'`,
    ...[people.orgId, count],
  );

describe('many at once', () => {
  it.each([true, false])(
    'get different stories, and those behind the last are told why (start: %s)',
    async (start) => {
      await ready(40);
      const callers = [people.ana, people.ben, people.chloe, people.robo];
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          acquireNext(callers[index % callers.length] ?? people.ana, { runId: `run-${index}`, start }),
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
      acquireNext(robo, { runId: newId(), start: index % 2 === 0 }),
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
    const [byName, byNext] = await api.world.runUnderContention<unknown>(
      { table: 'stories', id },
      () => people.chloe.deliveryExecutions.acquire(target),
      () => acquireNext(people.robo, { start: false }),
    );
    const isTaken = byNext?.status === 'fulfilled' && (byNext.value as NextWork).execution !== null;
    expect([byName?.status, isTaken]).toEqual(isTaken ? ['rejected', true] : ['fulfilled', false]);
  });
});

describe('what others are about to take', () => {
  const idOf = async (key: string) => (await people.ana.stories.get({ storyId: key })).story.id;
  const columnOf = async (wanted: string) =>
    (await people.ana.boardColumns.list({ projectId: 'WEB' })).items.find(({ status }) => status === wanted)
      ?.id ?? '';

  /** Runs `work` while another transaction holds a story's row lock. `work` can release it. */
  async function whileClaimed(key: string, work: (letGo: () => Promise<unknown>) => Promise<void>) {
    const holder = await api.world.database.owner.connect();
    try {
      await holder.query('begin');
      const claim = `select pg_advisory_xact_lock(hashtextextended('next ' || $1::text, 0))`;
      await holder.query(claim, [await idOf(key)]);
      await work(() => holder.query('rollback'));
    } finally {
      holder.release(true);
    }
  }

  it('is passed by without waiting, and told as held', async () => {
    await ready(2);
    await whileClaimed('WEB-1', async () => {
      const { execution, skipped } = await acquireNext(people.robo);
      expect(execution?.targetId).toBe(await idOf('WEB-2'));
      expect(skipped.map(({ key, reasons }) => [key, ...reasons])).toEqual([['WEB-1', 'lease_held']]);
    });
  });

  it('is waited for where nothing else is left, and taken where they let go of it', async () => {
    await ready(1);
    await whileClaimed('WEB-1', async (letGo) => {
      const asked = acquireNext(people.robo);
      await api.world.waitUntilBlocked(1);
      await letGo();
      expect((await asked).execution?.targetId).toBe(await idOf('WEB-1'));
    });
  });

  it('is looked at again behind the locks: what was blocked meanwhile is passed over', async () => {
    await ready(2);
    const column = await columnOf('in_progress');
    const holder = await api.world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from board_columns where id = $1 for update', [column]);
      const asked = acquireNext(people.robo);
      await api.world.waitUntilBlocked(1);
      const unblockerMemberId = people.ana.me.memberId;
      const blocked = { kind: 'external', note: 'A key', unblockerMemberId } as const;
      await people.ana.stories.update({ storyId: 'WEB-1', blocked });
      await holder.query('rollback');
      const { execution, skipped } = await asked;
      expect(execution?.targetId).toBe(await idOf('WEB-2'));
      expect(skipped.map(({ key, reasons }) => [key, ...reasons])).toEqual([['WEB-1', 'blocked']]);
    } finally {
      holder.release(true);
    }
    expect((await people.ana.stories.get({ storyId: 'WEB-1' })).story.status).toBe('ready');
  });

  it('never fills a column over its limit', async () => {
    await ready(3);
    const { ana, robo, chloe } = people;
    await ana.policy.update({ wipLimits: 'block' });
    const column = await columnOf('in_progress');
    await ana.boardColumns.update({ columnId: column, wipLimit: 1 });
    const outcomes = await api.world.runUnderContention(
      { table: 'board_columns', id: column },
      () => acquireNext(robo),
      () => acquireNext(chloe),
    );
    const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const none = answers.filter(({ execution }) => execution === null);
    expect([answers.length, none.length]).toEqual([2, 1]);
    expect(none[0]?.skipped.flatMap(({ reasons }) => reasons)).toContain('wip_limit');
  });
});

describe('over HTTP', () => {
  const ask = (copy: Pick<typeof api, 'call'>, runId: string) =>
    copy.call(people.robo.me.token, 'deliveryExecutions.acquireNext', { projectId: 'WEB', runId });

  const inLine = async (copy: Pick<typeof api, 'metrics'>): Promise<number> =>
    Number(/^muster_requests_waiting(?:\{[^}]*\})? (\d+)$/m.exec(await copy.metrics())?.[1]);

  it('more at once than there are places are answered, and wait without a connection', async () => {
    await ready(64);
    // Four connections, and a capacity of 24 concurrent requests.
    const copy = await api.startReplica({ DATABASE_POOL: '4' });
    // The first call caches the token.
    const first = await ask(copy, 'run-0');
    const answers = await Promise.all(
      Array.from({ length: 63 }, (_, index) => ask(copy, `run-${index + 1}`)),
    );
    const given = [first, ...answers].map(({ body }) => (body as unknown as NextWork).execution?.targetId);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect([new Set(given).size, given.includes(undefined)]).toEqual([64, false]);
    await copy.stop();
  });

  it('those who wait for a board leave a connection to all others', async () => {
    await ready(8);
    const copy = await api.startReplica({ DATABASE_POOL: '4' });
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    const column = items.find(({ status }) => status === 'in_progress')?.id ?? '';
    const holder = await api.world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from board_columns where id = $1 for update', [column]);
      const asking = Promise.all(Array.from({ length: 8 }, (_, index) => ask(copy, `run-${index}`)));
      await api.world.waitUntilBlocked(2);
      expect((await copy.call(people.ana.me.token, 'teams.create', { name: 'Others' })).status).toBe(200);
      await holder.query('rollback');
      expect((await asking).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    } finally {
      holder.release(true);
    }
    await copy.stop();
  });

  it('a caller that left before its turn takes nothing', async () => {
    await ready(5);
    const copy = await api.startReplica({ DATABASE_POOL: '4' });
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    const column = items.find(({ status }) => status === 'in_progress')?.id ?? '';
    const holder = await api.world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from board_columns where id = $1 for update', [column]);
      const asking = Promise.all(Array.from({ length: 2 }, (_, index) => ask(copy, `run-${index}`)));
      await api.world.waitUntilBlocked(2);
      const leaving = new AbortController();
      const left = fetch(`${copy.url()}/api/deliveryExecutions/acquireNext`, {
        method: 'POST',
        headers: { authorization: `Bearer ${people.robo.me.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ projectId: 'WEB', runId: 'gone' }),
        signal: leaving.signal,
      });
      await waitUntil(async () => (await inLine(copy)) === 1);
      leaving.abort();
      await expect(left).rejects.toThrow();
      await waitUntil(async () => (await inLine(copy)) === 0);
      await holder.query('rollback');
      expect([...(await asking), await ask(copy, 'run-2')].map(({ status }) => status)).toEqual([
        200, 200, 200,
      ]);
    } finally {
      holder.release(true);
    }
    const held = await api.world.rows<{ run_id: string }>(
      `select run_id from leases where org_id = $1 and state = 'held' order by run_id`,
      people.orgId,
    );
    expect(held.map(({ run_id: run }) => run)).toEqual(['run-0', 'run-1', 'run-2']);
    await copy.stop();
  });
});
