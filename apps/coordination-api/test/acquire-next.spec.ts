/** acquireNext in the complete API, with many concurrent callers. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import {
  createReadyStory,
  createWebProject,
  heldOf,
  acquireNext,
  type NextWork,
  type NextWorkParams,
  type NewStory,
} from './next-work.ts';
import { expireLeases } from './one-story.ts';

const api = useApi();

let people: People<AllHandlers>;
beforeEach(async () => {
  people = await createWebProject(api);
});

/** Creates the stories WEB-1, WEB-2 and so on. Their default status is ready. */
async function stories(...acquireAllKeys: NewStory[]): Promise<void> {
  for (const story of acquireAllKeys) await createReadyStory(people, story);
}

const keyOf = async ({ execution }: NextWork): Promise<string | null> =>
  execution === null ? null : (await people.ana.stories.get({ storyId: execution.targetId })).story.key;

/** Lists the keys that a caller gets, call by call, until there are no more. */
async function all(who: Person<AllHandlers>, asked: NextWorkParams = {}): Promise<string[]> {
  const keys: string[] = [];
  for (;;) {
    const key = await keyOf(await acquireNext(who, asked));
    if (key === null) return keys;
    keys.push(key);
  }
}

const skipReasonsByStory = ({ skipped }: NextWork): Record<string, readonly string[]> =>
  Object.fromEntries(skipped.map(({ key, reasons }) => [key, reasons]));

const countAuditEntries = async (): Promise<number> =>
  (await people.ana.audit.list({ limit: 200 })).items.length;

describe('a budget that is used up', () => {
  it('makes agents skip what it covers, until it is raised', async () => {
    await stories({}, {});
    const taken = heldOf(await acquireNext(people.robo, { runId: 'r1' }));
    const budget = { scope: 'story', targetId: 'WEB-1', period: 'total', action: 'stop' } as const;
    await people.ana.budgets.set({ ...budget, amountMicros: 500 });
    const usage = { model: 'm', costMicros: 500 };
    const { signals } = await people.robo.deliveryExecutions.renew({ ...taken, usage });
    expect(signals).toMatchObject([{ kind: 'stop_requested', data: { reason: 'budget' } }]);
    // Ana set the budget, Ben is an admin, and Chloé owns the agent.
    for (const who of [people.ana, people.ben, people.chloe])
      expect((await who.notifications.list({ kinds: ['budget_warning'] })).items).toMatchObject([
        { title: '100 % of the budget of 0.00 USD for WEB-1 A story is used' },
      ]);
    expect((await people.dan.notifications.list({ kinds: ['budget_warning'] })).items).toEqual([]);
    await people.robo.deliveryExecutions.release(taken);
    const second = await acquireNext(people.robo, { runId: 'r2' });
    expect([await keyOf(second), skipReasonsByStory(second)]).toEqual([
      'WEB-2',
      { 'WEB-1': ['budget_exceeded'] },
    ]);
    await people.ana.budgets.set({ ...budget, amountMicros: 501 });
    expect(await keyOf(await acquireNext(people.robo, { runId: 'r3' }))).toBe('WEB-1');
  });
});

describe('a budget warning', () => {
  it('also reaches the person whose own work used up the budget', async () => {
    await stories({});
    const taken = heldOf(await acquireNext(people.ana));
    await people.ana.budgets.set({ scope: 'org', amountMicros: 500, period: 'total', action: 'notify' });
    await people.ana.deliveryExecutions.renew({ ...taken, usage: { model: 'm', costMicros: 500 } });
    expect((await people.ana.notifications.list({ kinds: ['budget_warning'] })).items).toHaveLength(1);
  });
});

describe('the next story', () => {
  it('is answered as acquire answers it, and is in progress', async () => {
    await stories({});
    const { execution, leaseToken, ...rest } = await acquireNext(people.robo, {
      runId: 'r1',
      ttlSeconds: 60,
    });
    expect(execution).toMatchObject({
      ...{ targetType: 'story', state: 'leased', attempt: 1, runId: 'r1' },
      lease: { epoch: 1, ttlSeconds: 60, runId: 'r1', holder: { name: 'Robo' } },
    });
    expect(rest).toEqual({ resumed: false, signals: [], skipped: [] });
    expect((await people.ana.stories.get({ storyId: 'WEB-1' })).story.status).toBe('in_progress');
    await people.robo.deliveryExecutions.renew({
      executionId: execution?.id ?? '',
      leaseToken: leaseToken ?? '',
    });
  });

  it('is the most urgent in ready, then the first on the board, and only then one of the backlog', async () => {
    await stories(
      { priority: 'urgent', status: 'backlog' },
      {},
      { priority: 'low' },
      { priority: 'high' },
      { priority: 'low' },
      { status: 'backlog' },
      { status: 'in_progress', priority: 'urgent' },
      { status: 'done' },
    );
    await people.ana.stories.reorder({ storyId: 'WEB-5', beforeStoryId: 'WEB-3' });
    expect(await all(people.chloe)).toEqual(['WEB-4', 'WEB-5', 'WEB-3', 'WEB-2', 'WEB-1', 'WEB-6']);
  });

  it('is none where nothing is left, which changes nothing', async () => {
    await stories({ status: 'in_progress' }, { status: 'done' });
    const asked = await countAuditEntries();
    expect(await acquireNext(people.chloe)).toEqual({
      ...{ execution: null, leaseToken: null, resumed: false, signals: [], skipped: [] },
    });
    expect(await countAuditEntries()).toBe(asked);
    await stories({});
    await acquireNext(people.chloe);
    expect(await countAuditEntries()).toBe(asked + 2);
  });

  it('has all the labels, is of the epic, and is assigned to the caller, where that is asked for', async () => {
    const { ana, chloe, robo } = people;
    const { epic } = await ana.epics.create({ projectId: 'WEB', title: 'Accounts' });
    await stories({ labels: ['a'] }, { labels: ['a', 'b'] }, { epicId: epic.id }, {}, {}, {});
    const assign = (story: string, to: { memberId?: string; agentId?: string }) =>
      ana.assignments.set({ targetType: 'story', targetId: story, ...to });
    const [memberId, agentId] = [chloe.me.memberId, robo.me.agentId ?? ''];
    await assign('WEB-4', { memberId });
    await assign('WEB-5', { memberId, agentId });
    await assign('WEB-6', { memberId: ana.me.memberId, agentId });
    const start = false;
    expect(await keyOf(await acquireNext(chloe, { labels: ['b', 'a'], start }))).toBe('WEB-2');
    expect(await keyOf(await acquireNext(chloe, { epicId: epic.id, start }))).toBe('WEB-3');
    expect(await keyOf(await acquireNext(chloe, { labels: ['c'] }))).toBeNull();
    expect(await all(robo, { assignedToMe: true })).toEqual(['WEB-4', 'WEB-5', 'WEB-6']);
    expect(await all(people.ben)).toEqual(['WEB-1']);
    expect(skipReasonsByStory(await acquireNext(people.ben))).toMatchObject({
      'WEB-4': ['assigned_to_another', 'lease_held'],
    });
  });

  it('is not moved where start is false, and no gate of the move holds it back', async () => {
    await people.ana.policy.update({ requireSpecToStart: true });
    await stories({});
    expect(skipReasonsByStory(await acquireNext(people.chloe))).toEqual({ 'WEB-1': ['spec_missing'] });
    expect(await keyOf(await acquireNext(people.chloe, { start: false }))).toBe('WEB-1');
    expect((await people.ana.stories.get({ storyId: 'WEB-1' })).story.status).toBe('ready');
    expect(skipReasonsByStory(await acquireNext(people.ben, { start: false }))).toEqual({
      'WEB-1': ['lease_held'],
    });
  });
});

describe('what is passed over', () => {
  it('is told with its reasons, and the first behind it is taken', async () => {
    const { ana, ben, chloe, robo } = people;
    await ana.policy.update({ requireSpecToStart: true });
    const spec = '# What to do';
    await stories(...Array.from({ length: 7 }, () => ({ spec })), {}, { spec });
    await ana.stories.update({ storyId: 'WEB-1', blockedBy: ['WEB-9'] });
    const unblockerMemberId = ana.me.memberId;
    await ana.stories.update({
      storyId: 'WEB-2',
      blocked: { kind: 'external', note: 'A key', unblockerMemberId },
    });
    await ana.assignments.set({ targetType: 'story', targetId: 'WEB-3', memberId: ben.me.memberId });
    await ana.deliveryGroups.create({ projectId: 'WEB', name: 'One', storyIds: ['WEB-4'] });
    await ben.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-5' });
    const offered = await ben.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-6' });
    await ben.deliveryExecutions.checkpoint({ ...heldOf(offered), summary: 'Half' });
    await ben.deliveryExecutions.handoff({ ...heldOf(offered), toMemberId: chloe.me.memberId });
    const stopped = await robo.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-7' });
    await ana.deliveryExecutions.update({ executionId: stopped.execution.id, requestStop: true });
    await robo.deliveryExecutions.release(heldOf(stopped));

    const taken = await acquireNext(robo);
    expect(await keyOf(taken)).toBe('WEB-9');
    expect(taken.skipped.map(({ key, reasons }) => [key, ...reasons])).toEqual([
      ['WEB-1', 'blocked_by'],
      ['WEB-2', 'blocked'],
      ['WEB-3', 'assigned_to_another'],
      ['WEB-4', 'in_active_group'],
      ['WEB-5', 'lease_held'],
      ['WEB-6', 'reserved'],
      ['WEB-7', 'stop_requested'],
      ['WEB-8', 'spec_missing'],
    ]);
    expect(taken.skipped[0]?.storyId).toBe((await ana.stories.get({ storyId: 'WEB-1' })).story.id);
  });

  it('includes a parent until its children are finished', async () => {
    const { ana, robo } = people;
    await stories({}, { parentId: 'WEB-1' });
    const taken = await acquireNext(robo);
    expect([await keyOf(taken), skipReasonsByStory(taken)]).toEqual(['WEB-2', { 'WEB-1': ['has_children'] }]);
    const { readiness } = await robo.storyCollaboration.context({ storyId: 'WEB-1' });
    expect(readiness).toMatchObject({ canStart: false, reasons: ['has_children'] });
    await ana.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    expect(await keyOf(await acquireNext(robo))).toBe('WEB-1');
  });

  it('is everything where the column of work in progress is full', async () => {
    const { ana, chloe } = people;
    await ana.policy.update({ wipLimits: 'block' });
    const { items } = await ana.boardColumns.list({ projectId: 'WEB' });
    const column = items.find(({ status }) => status === 'in_progress');
    await ana.boardColumns.update({ columnId: column?.id ?? '', wipLimit: 1 });
    await stories({}, {});
    const first = await acquireNext(chloe);
    expect(await keyOf(first)).toBe('WEB-1');
    expect(skipReasonsByStory(await acquireNext(chloe))).toEqual({
      'WEB-2': ['wip_limit'],
      'WEB-1': ['lease_held'],
    });
    // After the release, a story that is already in the full column is offered again.
    await chloe.deliveryExecutions.release(heldOf(first));
    expect(await keyOf(await acquireNext(people.ben))).toBe('WEB-1');
  });

  it('is told of twenty at most, and looked through to the end', async () => {
    const { ana, chloe } = people;
    await stories(...Array.from({ length: 24 }, () => ({})), { priority: 'none' });
    const unblockerMemberId = ana.me.memberId;
    for (let number = 1; number <= 24; number += 1)
      await ana.stories.update({
        storyId: `WEB-${number}`,
        blocked: { kind: 'external', note: 'A key', unblockerMemberId },
      });
    const taken = await acquireNext(chloe);
    expect([await keyOf(taken), taken.skipped.length]).toEqual(['WEB-25', 20]);
    // Inserts more stories than the search reads in one scan.
    await api.world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by, blocked)
       select org_id, gen_random_uuid(), project_id, 100 + n, title, status, column_id, 'A' || lpad(n::text, 4, '0'), created_by, blocked
       from stories cross join generate_series(1, 450) n where org_id = $1 and number = 1`,
      people.orgId,
    );
    await stories({});
    expect(await keyOf(await acquireNext(chloe))).toBe('WEB-26');
  });
});

describe('work that was begun', () => {
  it('goes on before any other, where nobody holds it', async () => {
    const { ana, ben, chloe, robo, orgId } = people;
    await stories({}, {}, {}, {}, { priority: 'urgent' });
    const take = async (story: string) => {
      const target = { targetType: 'story', targetId: story, start: true } as const;
      return heldOf(await ben.deliveryExecutions.acquire(target));
    };
    const expired = await take('WEB-1');
    await ben.deliveryExecutions.checkpoint({ ...expired, summary: 'Half' });
    await expireLeases(api, orgId, 301);
    await ben.deliveryExecutions.release(await take('WEB-2'));
    const handIn = async (story: string, number: number) => {
      const pullRequest = { number, url: `https://example.com/${number}` };
      const held = await take(story);
      await ben.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest });
      return held.executionId;
    };
    const executionId = await handIn('WEB-3', 3);
    await handIn('WEB-4', 4);
    const observedAt = '2026-11-21T09:30:00.000Z';
    await ana.deliveryExecutions.recordForgeObservation({
      ...{ executionId, observation: { dedupeKey: '1', kind: 'checks_failed', observedAt } },
    });
    const first = await acquireNext(chloe);
    expect(await keyOf(first)).toBe('WEB-1');
    expect(first).toMatchObject({
      resumed: true,
      execution: { attempt: 2, checkpoint: { summary: 'Half' } },
    });
    // Submitted work that waits for the forge is not offered.
    expect(await all(robo)).toEqual(['WEB-2', 'WEB-3', 'WEB-5']);
    await expect(ben.deliveryExecutions.renew(expired)).rejects.toMatchObject({ reason: 'stale_lease' });
    // A member who moves the story back requests the work again.
    await ana.stories.updateStatus({ storyId: 'WEB-4', status: 'ready' });
    expect(await all(robo)).toEqual(['WEB-4']);
  });

  it('is left to its holder for five minutes after the lease expired, but not from those who name it', async () => {
    const { ben, chloe, orgId } = people;
    await stories({}, {});
    const target = { targetType: 'story', targetId: 'WEB-1', start: true } as const;
    const held = heldOf(await ben.deliveryExecutions.acquire(target));
    await expireLeases(api, orgId, 290);
    const other = await acquireNext(chloe);
    expect(await keyOf(other)).toBe('WEB-2');
    expect(skipReasonsByStory(await acquireNext(chloe))).toMatchObject({ 'WEB-1': ['lease_held'] });
    await ben.deliveryExecutions.renew(held);
    await expireLeases(api, orgId, 290);
    expect((await chloe.deliveryExecutions.acquire(target)).execution).toMatchObject({ attempt: 2 });
  });

  it('is the offered first, and of others not what people work on without a lease', async () => {
    const { ben, chloe, robo } = people;
    await stories({ priority: 'urgent' }, { status: 'in_progress' }, {});
    const held = heldOf(
      await ben.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-3', start: true }),
    );
    await ben.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    await ben.deliveryExecutions.handoff({ ...held, toAgentId: robo.me.agentId ?? '' });
    expect(await all(chloe)).toEqual(['WEB-1']);
    expect(await all(robo)).toEqual(['WEB-3']);
  });
});

describe('a run', () => {
  it('that holds a story gets it again, with a fresh token; another run gets another', async () => {
    const { robo } = people;
    await stories({}, {}, {});
    const first = await acquireNext(robo, { runId: 'r1' });
    const again = await acquireNext(robo, { runId: 'r1' });
    expect([await keyOf(again), again.execution?.lease?.epoch, again.resumed]).toEqual(['WEB-1', 1, true]);
    await expect(robo.deliveryExecutions.renew(heldOf(first))).rejects.toMatchObject({
      reason: 'stale_lease',
    });
    expect(await keyOf(await acquireNext(robo, { runId: 'r2' }))).toBe('WEB-2');
    await robo.deliveryExecutions.complete({ ...heldOf(again), outcome: 'failed' });
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    expect(await keyOf(await acquireNext(robo, { runId: 'r1' }))).toBe('WEB-3');
  });

  it('that was asked to stop is told so, and gets nothing else', async () => {
    const { ana, robo } = people;
    await stories({}, {});
    const { execution } = await acquireNext(robo, { runId: 'r1' });
    await ana.deliveryExecutions.update({ executionId: execution?.id ?? '', requestStop: true });
    await expect(acquireNext(robo, { runId: 'r1' })).rejects.toMatchObject({ reason: 'stop_requested' });
  });

  it('passes over a stopped story in any run, also for members, until the stop is lifted', async () => {
    const { ana, robo } = people;
    await stories({});
    const first = await acquireNext(robo, { runId: 'r1' });
    const executionId = first.execution?.id ?? '';
    await robo.deliveryExecutions.release(heldOf(first));
    await ana.deliveryExecutions.update({ executionId, requestStop: true });
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
    for (const who of [robo, ana]) {
      const { execution, skipped } = await acquireNext(who, { runId: 'r2' });
      expect([execution, skipped]).toMatchObject([null, [{ key: 'WEB-1', reasons: ['stop_requested'] }]]);
    }
    await ana.deliveryExecutions.update({ executionId, requestStop: false });
    expect(await keyOf(await acquireNext(robo, { runId: 'r3' }))).toBe('WEB-1');
  });

  it('that calls twice at once is given one story', async () => {
    const { robo } = people;
    await stories({}, {}, {});
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    const column = items.find(({ status }) => status === 'in_progress')?.id ?? '';
    const outcomes = await api.world.runUnderContention(
      { table: 'board_columns', id: column },
      ...Array.from({ length: 3 }, () => () => acquireNext(robo, { runId: 'r1' })),
    );
    const keys = await Promise.all(
      outcomes.map(async (outcome) =>
        outcome.status === 'fulfilled' ? keyOf(outcome.value) : String(outcome.reason),
      ),
    );
    expect(keys).toEqual(['WEB-1', 'WEB-1', 'WEB-1']);
  });
});

describe('an Idempotency-Key', () => {
  const ask = async (who: Person<AllHandlers>, key: string) => {
    const answer = await api.call(
      who.me.token,
      'deliveryExecutions.acquireNext',
      { projectId: 'WEB' },
      {
        'idempotency-key': key,
      },
    );
    expect(answer.status).toBe(200);
    return { ...(answer.body as unknown as NextWork), replayed: answer.headers.get('idempotency-replayed') };
  };

  it('gives the same story again, with a token that is good', async () => {
    const { chloe } = people;
    await stories({}, {});
    const first = await ask(chloe, 'k1');
    const again = await ask(chloe, 'k1');
    expect([again.replayed, again.execution?.id]).toEqual(['true', first.execution?.id]);
    expect(again.leaseToken).toMatch(/^lse_1_/);
    await chloe.deliveryExecutions.renew(heldOf(again));
    expect(await keyOf(await ask(chloe, 'k2'))).toBe('WEB-2');
  });

  it('gives none again where there was none', async () => {
    await ask(people.chloe, 'k1');
    await stories({});
    expect(await ask(people.chloe, 'k1')).toMatchObject({
      replayed: 'true',
      execution: null,
      leaseToken: null,
    });
  });
});

it('is for contributors, in a project that is not archived', async () => {
  await stories({});
  await expect(acquireNext(people.dan)).rejects.toMatchObject({ body: { code: 'forbidden' } });
  await people.ana.projects.update({ projectId: 'WEB', archived: true });
  await expect(acquireNext(people.chloe)).rejects.toMatchObject({ reason: 'archived' });
});
