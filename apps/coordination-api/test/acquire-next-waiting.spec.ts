/** Calls of acquireNext that wait until there is a story to take. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person, waitUntil } from '@muster/testing';
import { useApi } from './api.ts';
import {
  acquire,
  createReadyStory,
  createWebProject,
  heldOf,
  type NextWork,
  type NewStory,
} from './next-work.ts';

/** With one connection to Postgres, a waiting call that held it would block every other call. */
const api = useApi({ DATABASE_POOL: '1' });

let people: People<AllHandlers>;
beforeEach(async () => {
  people = await createWebProject(api);
});

/** Creates a story, which is ready by default, and returns its id. */
const story = (draft: NewStory = {}): Promise<string> => createReadyStory(people, draft);

const waitForStory = (who: Person<AllHandlers>, runId: string, waitSeconds = 25): Promise<NextWork> =>
  api.client(who.me.token).deliveryExecutions.acquireNext({ projectId: 'WEB', runId, waitSeconds });

const waitingCalls = async (): Promise<number> =>
  Number(/^muster_requests_waiting(?:\{[^}]*\})? (\d+)$/m.exec(await api.metrics())?.[1]);
const untilWaiting = (count: number) => waitUntil(async () => (await waitingCalls()) === count);

const heldStories = async (): Promise<string[]> =>
  (
    await api.world.rows<{ unit_id: string }>(
      `select unit_id from leases where org_id = $1 and state = 'held'`,
      people.orgId,
    )
  ).map(({ unit_id: id }) => id);

/** Each entry prepares a board without a free story, and returns the act that frees one. */
const freeingActions: Record<string, () => Promise<() => Promise<unknown>>> = {
  'a new story': async () => () => story(),
  'a released lease': async () => {
    const taken = heldOf(await acquire(people.ben, await story()));
    return () => people.ben.deliveryExecutions.release(taken);
  },
  'the end of its last blocker': async () => {
    const blocker = await story();
    await acquire(people.ben, blocker);
    await story({ blockedBy: [blocker] });
    return () => people.ana.stories.updateStatus({ storyId: blocker, status: 'done' });
  },
  'a lifted stop': async () => {
    const taken = heldOf(await acquire(people.robo, await story()));
    const { executionId } = taken;
    await people.ana.deliveryExecutions.update({ executionId, requestStop: true });
    await people.robo.deliveryExecutions.release(taken);
    return () => people.ana.deliveryExecutions.update({ executionId, requestStop: false });
  },
  'an assignment that ends': async () => {
    const target = { targetType: 'story', targetId: await story() } as const;
    await people.ana.assignments.set({ ...target, memberId: people.ben.me.memberId });
    return () => people.ana.assignments.clear(target);
  },
  'a policy that asks for less': async () => {
    await people.ana.policy.update({ requireSpecToStart: true });
    await story();
    return () => people.ana.policy.update({ requireSpecToStart: false });
  },
  'room in the column for work in progress': async () => {
    await people.ana.policy.update({ wipLimits: 'block' });
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    const columnId = items.find(({ status }) => status === 'in_progress')?.id ?? '';
    await people.ana.boardColumns.update({ columnId, wipLimit: 1 });
    await acquire(people.ben, await story());
    await story();
    return () => people.ana.boardColumns.update({ columnId, wipLimit: 2 });
  },
};

describe('a caller that waits', () => {
  it.each(Object.keys(freeingActions))('gets a story after %s', async (cause) => {
    const free = await freeingActions[cause]?.();
    const waiting = waitForStory(people.robo, 'run-1');
    await untilWaiting(1);
    await free?.();
    expect((await waiting).execution).toMatchObject({ runId: 'run-1', lease: { holder: { name: 'Robo' } } });
  });

  it('gets a story that is there immediately', async () => {
    const id = await story();
    expect((await waitForStory(people.robo, 'run-1')).execution?.targetId).toBe(id);
  });

  it('gets the reasons at its timeout, and has changed nothing', async () => {
    const id = await story();
    await acquire(people.ben, id);
    const entries = async () => (await people.ana.audit.list({ limit: 200 })).items.length;
    const before = await entries();
    const { execution, skipped } = await waitForStory(people.robo, 'run-1', 1);
    expect([execution, skipped]).toMatchObject([null, [{ storyId: id, reasons: ['lease_held'] }]]);
    expect(await entries()).toBe(before);
  });

  it('is refused once the project is archived', async () => {
    const waiting = waitForStory(people.robo, 'run-1');
    await untilWaiting(1);
    const refused = expect(waiting).rejects.toMatchObject({ reason: 'archived' });
    await people.ana.projects.update({ projectId: 'WEB', archived: true });
    await refused;
  });

  it('takes nothing after it has disconnected', async () => {
    const leaving = new AbortController();
    const left = fetch(`${api.url()}/api/deliveryExecutions/acquireNext`, {
      method: 'POST',
      headers: { authorization: `Bearer ${people.robo.me.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ projectId: 'WEB', runId: 'gone', waitSeconds: 25 }),
      signal: leaving.signal,
    });
    await untilWaiting(1);
    // This row comes without an event, so it does not end the wait.
    await api.world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select c.org_id, gen_random_uuid(), c.project_id, 1, 'A story', 'ready', c.id, 'A', '{}'
       from board_columns c where c.org_id = $1 and c.status = 'ready'`,
      people.orgId,
    );
    leaving.abort();
    await expect(left).rejects.toThrow();
    await untilWaiting(0);
    // The only connection serves one call after the other, so a search of the caller would be over by now.
    await api.client(people.ana.me.token).session.identity();
    expect(await heldStories()).toEqual([]);
  });
});

describe('several callers that wait', () => {
  it('get one story each, in any order, and the others keep waiting', async () => {
    const callers = [people.robo, people.ben, people.chloe];
    const waiting = new Map(callers.map((who, index) => [index, waitForStory(who, `run-${index}`)]));
    await untilWaiting(3);
    const given: (string | undefined)[] = [];
    const created: string[] = [];
    while (waiting.size > 0) {
      created.push(await story());
      const [index, answer] = await Promise.race(
        [...waiting].map(async ([nth, call]) => [nth, await call] as const),
      );
      waiting.delete(index);
      given.push(answer.execution?.targetId);
      await untilWaiting(waiting.size);
      expect(await heldStories()).toHaveLength(given.length);
    }
    expect(given).toEqual(created);
  });

  it('with one Idempotency-Key get the same story', async () => {
    const ask = () =>
      api.call(
        people.chloe.me.token,
        'deliveryExecutions.acquireNext',
        { projectId: 'WEB', waitSeconds: 25 },
        { 'idempotency-key': 'k1' },
      );
    const asked = [ask(), ask()];
    await untilWaiting(2);
    const id = await story();
    const answers = await Promise.all(asked);
    expect(answers.map(({ body }) => (body as unknown as NextWork).execution?.targetId)).toEqual([id, id]);
    expect(answers.map(({ headers }) => headers.get('idempotency-replayed')).sort()).toEqual([null, 'true']);
  });

  it('keep no connection from others', async () => {
    const waiting = [waitForStory(people.robo, 'run-1'), waitForStory(people.ben, 'run-2')];
    await untilWaiting(2);
    await story();
    await story();
    const given = (await Promise.all(waiting)).map(({ execution }) => execution?.targetId);
    expect(new Set(given).size).toBe(2);
  });
});
