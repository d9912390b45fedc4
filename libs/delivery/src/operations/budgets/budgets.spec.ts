import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: PeopleOf<typeof world>;
let leaseCredentials: { executionId: string; leaseToken: string };
let agentId: string;

const firstTarget = { targetType: 'story', targetId: 'WEB-1' } as const;
const secondTarget = { targetType: 'story', targetId: 'WEB-2' } as const;
const dailyBudget = { amountMicros: 1_000, period: 'day', action: 'stop' } as const;

beforeEach(async () => {
  ({ people } = await arrangeStories(world));
  agentId = people.robo.me.agentId ?? '';
  const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire({
    ...firstTarget,
    runId: 'r1',
  });
  leaseCredentials = { executionId: execution.id, leaseToken };
});

const reportCost = (costMicros: number, currency = 'USD') =>
  people.robo.deliveryExecutions.renew({ ...leaseCredentials, usage: { model: 'm', costMicros, currency } });
const listSpentAmounts = async () =>
  (await people.ana.budgets.list({})).items.map(({ spentMicros }) => spentMicros);
const listWarnings = async () =>
  (
    await world.rows<{ percent: number }>(
      `select (data ->> 'percent')::int as percent from activity where org_id = $1 and kind = 'budget.warned' order by seq`,
      people.orgId,
    )
  ).map(({ percent }) => percent);
const isStopped = async () => {
  const { execution, signals } = await people.robo.deliveryExecutions.renew(leaseCredentials);
  const isSignaled = signals.some(
    ({ kind, data }) => kind === 'stop_requested' && data['reason'] === 'budget',
  );
  expect(execution.stopRequested?.reason === 'budget').toBe(isSignaled);
  const read = await people.dan.deliveryExecutions.getForTarget(firstTarget);
  expect(read.execution?.stopRequested?.reason === 'budget').toBe(isSignaled);
  return isSignaled;
};
const startNextDay = () =>
  world.rows(`update budgets set period_start = period_start - 1 where org_id = $1`, people.orgId);

describe('a budget that stops work', () => {
  it('asks the agent to stop in the answer to the report that uses it up, and refuses acquires', async () => {
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    expect((await reportCost(999)).signals).toEqual([]);
    expect(await isStopped()).toBe(false);
    expect((await reportCost(1_000)).signals).toMatchObject([
      { kind: 'stop_requested', data: { reason: 'budget' } },
    ]);
    expect(await isStopped()).toBe(true);
    for (const target of [firstTarget, secondTarget])
      await expect(people.robo.deliveryExecutions.acquire({ ...target, runId: 'r1' })).rejects.toMatchObject({
        status: 422,
        reason: 'budget_exceeded',
        body: { details: { budget: { scope: 'org', amountMicros: 1_000 } } },
      });
    await expect(people.chloe.deliveryExecutions.acquire(secondTarget)).resolves.toMatchObject({
      resumed: false,
    });
  });

  it.each([
    ['project', 'WEB', true],
    ['agent', 'robo', true],
    ['story', 'WEB-1', true],
    ['story', 'WEB-2', false],
  ] as const)('of the %s %s counts only its own work', async (scope, targetId, covers) => {
    const named = scope === 'agent' ? agentId : targetId;
    const { budget } = await people.ana.budgets.set({ scope, targetId: named, ...dailyBudget });
    await reportCost(1_500);
    expect(await listSpentAmounts()).toEqual([covers ? 1_500 : 0]);
    expect(await isStopped()).toBe(covers);
    expect(budget.target?.name).toMatch(scope === 'agent' ? /./ : scope === 'project' ? /^Web$/ : /^WEB-/);
    const isTwoRefused = scope === 'project' || scope === 'agent';
    const next = people.robo.deliveryExecutions.acquire({ ...secondTarget, runId: 'r2' });
    if (isTwoRefused) await expect(next).rejects.toMatchObject({ reason: 'budget_exceeded' });
    else await next;
  });

  it('lets the work continue when it is raised, deleted, or its next period begins', async () => {
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    await reportCost(1_000);
    expect(await isStopped()).toBe(true);
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget, amountMicros: 2_000 });
    expect(await isStopped()).toBe(false);
    await reportCost(2_500);
    expect(await isStopped()).toBe(true);
    await startNextDay();
    expect([await isStopped(), await listSpentAmounts()]).toEqual([false, [0]]);
    await reportCost(2_600);
    expect(await listSpentAmounts()).toEqual([100]);
    const { budget } = await people.ana.budgets.set({ scope: 'org', ...dailyBudget, amountMicros: 1 });
    expect([budget.state, await isStopped()]).toEqual(['exceeded', true]);
    await people.ana.budgets.delete({ budgetId: budget.id });
    expect(await isStopped()).toBe(false);
  });

  it('is not ended by a member who lifts stops or takes the work', async () => {
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    await reportCost(1_000);
    await people.chloe.deliveryExecutions.update({
      executionId: leaseCredentials.executionId,
      requestStop: false,
    });
    expect(await isStopped()).toBe(true);
    await people.robo.deliveryExecutions.release(leaseCredentials);
    const taken = await people.chloe.deliveryExecutions.acquire(firstTarget);
    const lease = { executionId: taken.execution.id, leaseToken: taken.leaseToken };
    const { signals } = await people.chloe.deliveryExecutions.renew(lease);
    expect(signals).toMatchObject([{ kind: 'stop_requested', data: { reason: 'budget' } }]);
  });

  it('counts what was spent in the period before it was set, in its own currency', async () => {
    await reportCost(700);
    await reportCost(90, 'EUR');
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    expect(await listSpentAmounts()).toEqual([700]);
    await reportCost(95, 'EUR');
    await reportCost(750);
    expect(await listSpentAmounts()).toEqual([750]);
  });

  it('counts exactly while it is set and runs report at the same time', async () => {
    const second = await people.robo.deliveryExecutions.acquire({ ...secondTarget, runId: 'r2' });
    const other = { executionId: second.execution.id, leaseToken: second.leaseToken };
    await Promise.all([
      ...[300, 100, 200].map((cost) => reportCost(cost)),
      people.ana.budgets.set({ scope: 'org', ...dailyBudget }),
      ...[10, 30, 20].map((costMicros) =>
        people.robo.deliveryExecutions.renew({ ...other, usage: { model: 'm', costMicros } }),
      ),
      people.ana.budgets.set({ scope: 'project', targetId: 'WEB', ...dailyBudget }),
    ]);
    expect(await listSpentAmounts()).toEqual([330, 330]);
  });
});

describe('a budget that only notifies', () => {
  it('warns at 80 and at 100 percent, once each per period, and stops nothing', async () => {
    await people.ana.budgets.set({ scope: 'project', targetId: 'WEB', ...dailyBudget, action: 'notify' });
    for (const cost of [799, 800, 900, 1_000, 1_100]) await reportCost(cost);
    expect(await isStopped()).toBe(false);
    expect(await listWarnings()).toEqual([80, 100]);
    await startNextDay();
    await reportCost(1_950);
    expect(await listWarnings()).toEqual([80, 100, 80]);
  });
});

describe('a budget that is set again', () => {
  it('repeats a warning only if its amount, currency or action changed', async () => {
    const budget = { scope: 'org', ...dailyBudget, action: 'notify' } as const;
    await people.ana.budgets.set(budget);
    await reportCost(850);
    await people.ana.budgets.set(budget);
    await reportCost(860);
    expect(await listWarnings()).toEqual([80]);
    await people.ana.budgets.set({ ...budget, amountMicros: 1_010 });
    await reportCost(870);
    expect(await listWarnings()).toEqual([80, 80]);
  });
});

describe('a correction of the costs of an earlier period', () => {
  it('leaves no credit in a later one', async () => {
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    const estimated = { model: 'gpt-5', inputTokens: 1_000_000 };
    await people.robo.deliveryExecutions.renew({ ...leaseCredentials, usage: estimated });
    expect(await listSpentAmounts()).toEqual([1_250_000]);
    await startNextDay();
    await people.robo.deliveryExecutions.renew({
      ...leaseCredentials,
      usage: { ...estimated, costMicros: 10 },
    });
    expect(await listSpentAmounts()).toEqual([0]);
    await reportCost(1_000);
    expect(await isStopped()).toBe(true);
  });
});

describe('who may set a budget', () => {
  it('is an admin, or a lead for the project and its stories', async () => {
    const { orgId, chloe, dan, robo } = people;
    const refused = (who: typeof dan, scope: 'org' | 'project' | 'story' | 'agent', targetId?: string) =>
      expect(
        who.budgets.set({ scope, ...(targetId !== undefined && { targetId }), ...dailyBudget }),
      ).rejects.toMatchObject({ status: 403 });
    await refused(chloe, 'project', 'WEB');
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role)
       select $1, id, $2, 'lead' from projects where org_id = $1`,
      orgId,
      chloe.me.memberId,
    );
    await chloe.budgets.set({ scope: 'project', targetId: 'web', ...dailyBudget });
    const { budget } = await chloe.budgets.set({ scope: 'story', targetId: '#WEB-1', ...dailyBudget });
    await refused(chloe, 'org');
    await refused(chloe, 'agent', agentId);
    await refused(dan, 'story', 'WEB-1');
    await refused(robo, 'org');
    await people.ana.budgets.set({ scope: 'org', ...dailyBudget });
    expect((await chloe.budgets.list({})).items.map(({ scope }) => scope)).toEqual(['story', 'project']);
    expect((await people.ana.budgets.list({ scope: 'org' })).items).toHaveLength(1);
    await expect(dan.budgets.delete({ budgetId: budget.id })).rejects.toMatchObject({ status: 403 });
    await chloe.budgets.delete({ budgetId: budget.id });
    await expect(chloe.budgets.delete({ budgetId: budget.id })).rejects.toMatchObject({ status: 404 });
  });

  it('names an existing record of the scope', async () => {
    const set = (scope: 'org' | 'project' | 'story' | 'agent', targetId?: string) =>
      people.ana.budgets.set({ scope, ...(targetId !== undefined && { targetId }), ...dailyBudget });
    for (const [scope, targetId] of [
      ['org', 'WEB'],
      ['project', undefined],
      ['story', 'WEB'],
    ] as const)
      await expect(set(scope, targetId)).rejects.toMatchObject({ status: 400 });
    for (const scope of ['project', 'story', 'agent'] as const)
      await expect(set(scope, newId())).rejects.toMatchObject({ status: 404 });
  });
});
