import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: PeopleOf<typeof world>;
let projectId: string;
let stories: readonly string[];
let held: { executionId: string; leaseToken: string };

const acquire = async (targetId: string, runId: string | undefined) => {
  const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire({
    targetType: 'story',
    targetId,
    ...(runId !== undefined && { runId }),
  });
  return { executionId: execution.id, leaseToken };
};
beforeEach(async () => {
  ({ people, projectId, stories } = await arrangeStories(world));
  held = await acquire('WEB-1', 'r1');
});

const renew = (usage: { model: string; [counter: string]: number | string }, lease = held) =>
  people.robo.deliveryExecutions.renew({ ...lease, usage });
const listSums = async (
  groupBy: 'story' | 'agent' | 'model' | 'day' | 'member' | 'project' | 'epic' = 'model',
) => (await people.dan.usage.summary({ groupBy })).items;
const sumOf = async () => {
  const [{ inputTokens, outputTokens, cachedTokens, costMicros, runs } = {}] = await listSums();
  return [inputTokens, outputTokens, cachedTokens, costMicros, runs];
};

describe('reported usage', () => {
  it('counts the highest total of each counter, whatever the order and however often it is reported', async () => {
    const totals = [
      { inputTokens: 100, outputTokens: 10, cachedTokens: 5, costMicros: 900 },
      { inputTokens: 300, outputTokens: 40, cachedTokens: 5, costMicros: 2_500 },
      { inputTokens: 200, outputTokens: 50, costMicros: 1_500 },
    ];
    for (const index of [1, 0, 2, 1, 0, 0]) await renew({ model: 'm', ...totals[index] });
    expect(await sumOf()).toEqual([300, 50, 5, 2_500, 1]);
    await Promise.all([2, 1, 0].map((index) => renew({ model: 'm', ...totals[index] })));
    expect(await sumOf()).toEqual([300, 50, 5, 2_500, 1]);
  });

  it('is the same through renewals, checkpoints and events of the run, also after its end', async () => {
    await renew({ model: 'm', costMicros: 100 });
    await people.robo.deliveryExecutions.checkpoint({
      ...held,
      summary: 'Half',
      usage: { model: 'm', costMicros: 250 },
    });
    const event = { projectId, runId: 'r1', usage: { model: 'm', costMicros: 200 } };
    await people.robo.agents.runEvent({ ...event, kind: 'heartbeat' });
    expect(await sumOf()).toEqual([0, 0, 0, 250, 1]);
    await people.robo.deliveryExecutions.complete({ ...held, outcome: 'failed', failure: 'timeout' });
    await people.robo.agents.runEvent({ ...event, kind: 'failed', usage: { model: 'm', costMicros: 300 } });
    expect(await sumOf()).toEqual([0, 0, 0, 300, 1]);
  });

  it('belongs to the story that the run worked on, and each run counts by itself', async () => {
    await renew({ model: 'm', costMicros: 100 });
    await people.robo.deliveryExecutions.release(held);
    const second = await acquire('WEB-2', 'r1');
    await renew({ model: 'm', costMicros: 130 }, second);
    await people.robo.deliveryExecutions.release(second);
    const third = await acquire('WEB-2', undefined);
    await renew({ model: 'm', costMicros: 40 }, third);
    const found = (await listSums('story')).map(({ key, costMicros, runs }) => [key, costMicros, runs]);
    expect(found).toEqual([
      [{ id: stories[0], name: 'WEB-1 A story' }, 100, 1],
      [{ id: stories[1], name: 'WEB-2 A story' }, 70, 2],
    ]);
  });

  it('of another member does not change it, even under the same name of a run', async () => {
    await renew({ model: 'm', costMicros: 100 });
    const other = await people.ben.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2', runId: 'r1' },
    });
    const lease = { executionId: other.execution.id, leaseToken: other.leaseToken };
    await people.ben.deliveryExecutions.renew({ ...lease, usage: { model: 'm', costMicros: 7_000 } });
    const byMember = (await listSums('member')).map(({ key, costMicros }) => [key.id, costMicros]);
    expect(byMember).toEqual([
      [people.ben.me.memberId, 7_000],
      [people.robo.me.memberId, 100],
    ]);
  });

  it('is separate for each currency, and refused without a code', async () => {
    await renew({ model: 'm', costMicros: 100 });
    await renew({ model: 'm', costMicros: 90, currency: 'EUR' });
    expect((await listSums()).map(({ currency, costMicros }) => [currency, costMicros])).toEqual([
      ['USD', 100],
      ['EUR', 90],
    ]);
    await expect(renew({ model: 'm', currency: 'euro' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('amounts that are too large to add up', () => {
  it('count as the highest exact number, and break neither reports nor sums', async () => {
    const highest = 1_000_000_000_000_000;
    await people.ana.usage.prices.set({ model: 'dear', inputMicros: highest, outputMicros: 0 });
    await renew({ model: 'dear', inputTokens: highest });
    expect((await listSums())[0]?.costMicros).toBe(highest);
    await people.ana.budgets.set({ scope: 'org', amountMicros: highest, period: 'day', action: 'notify' });
    for (let run = 1; run <= 9; run += 1)
      await people.robo.agents.runEvent({
        ...{ projectId, runId: `dear-${run}`, kind: 'heartbeat' },
        usage: { model: 'dear', costMicros: highest },
      });
    expect(await listSums()).toMatchObject([{ costMicros: Number.MAX_SAFE_INTEGER, runs: 10 }]);
    const [budget] = (await people.ana.budgets.list({})).items;
    expect(budget?.spentMicros).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('prices', () => {
  it('apply to tokens without a reported cost, the longest beginning of the name first', async () => {
    const prices = { inputMicros: 2_000_000, outputMicros: 10_000_000, cachedMicros: 200_000 };
    await people.ana.usage.prices.set({ model: 'acme-1', ...prices, validFrom: '2020-01-01' });
    await people.ana.usage.prices.set({ model: 'acme', inputMicros: 1, outputMicros: 1 });
    await renew({ model: 'acme-1-fast', inputTokens: 1_000, outputTokens: 100, cachedTokens: 50 });
    expect((await listSums())[0]?.costMicros).toBe(2_000 + 1_000 + 10);
    await renew({ model: 'acme-1-fast', inputTokens: 1_000, costMicros: 17 });
    expect((await listSums())[0]?.costMicros).toBe(17);
  });

  it('are the built-in ones unless the organization has its own', async () => {
    await renew({ model: 'claude-sonnet-4-20250514', inputTokens: 1_000_000 });
    expect((await listSums())[0]?.costMicros).toBe(3_000_000);
    const listed = (await people.dan.usage.prices.list({ limit: 200 })).items;
    expect(listed.find(({ model }) => model === 'claude-sonnet-4')).toMatchObject({ source: 'default' });
    await expect(
      people.chloe.usage.prices.set({ model: 'x', inputMicros: 1, outputMicros: 1 }),
    ).rejects.toMatchObject({ status: 403 });
  });

  it('of a later day do not change runs that reported before', async () => {
    await renew({ model: 'gpt-5', outputTokens: 1_000 });
    await people.ana.usage.prices.set({
      ...{ model: 'gpt-5', inputMicros: 0, outputMicros: 99_000_000, validFrom: '2090-01-01' },
    });
    await renew({ model: 'gpt-5', outputTokens: 2_000 });
    expect((await listSums())[0]?.costMicros).toBe(20_000);
  });

  it('have pages', async () => {
    const all = (await people.dan.usage.prices.list({ limit: 200 })).items;
    const paged = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await people.dan.usage.prices.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
  });
});

describe('usage.summary', () => {
  it('groups by each kind of record, in pages', async () => {
    const second = await acquire('WEB-2', 'r2');
    await renew({ model: 'm', inputTokens: 5, costMicros: 100 });
    await renew({ model: 'n', costMicros: 100 }, second);
    for (const groupBy of ['project', 'epic', 'story', 'agent', 'member', 'model', 'day', 'week'] as const) {
      const whole = await people.dan.usage.summary({ groupBy, projectId: 'WEB' });
      expect(whole.items.reduce((sum, { costMicros }) => sum + costMicros, 0)).toBe(200);
      const first = await people.dan.usage.summary({ groupBy, limit: 1 });
      const rest =
        first.nextCursor === null
          ? []
          : (await people.dan.usage.summary({ groupBy, cursor: first.nextCursor })).items;
      expect([...first.items, ...rest]).toEqual(whole.items);
    }
    expect((await listSums('agent'))[0]).toMatchObject({ runs: 2, costMicros: 200, inputTokens: 5 });
  });

  it('sums each week from its Monday, newest first', async () => {
    await renew({ model: 'm', costMicros: 100 });
    await world.rows(`update usage_days set day = '2026-03-08' where org_id = $1`, people.orgId);
    await renew({ model: 'n', costMicros: 20 });
    await world.rows(
      `update usage_days set day = '2026-03-09' where org_id = $1 and model = 'n'`,
      people.orgId,
    );
    await renew({ model: 'o', costMicros: 3 });
    await world.rows(
      `update usage_days set day = '2026-03-15' where org_id = $1 and model = 'o'`,
      people.orgId,
    );
    const range = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-31T00:00:00.000Z' };
    const first = await people.dan.usage.summary({ groupBy: 'week', ...range, limit: 1 });
    const cursor = first.nextCursor ?? '';
    const second = await people.dan.usage.summary({ groupBy: 'week', ...range, limit: 1, cursor });
    expect([...first.items, ...second.items].map(({ key, costMicros }) => [key, costMicros])).toEqual([
      [{ id: '2026-03-09', name: '2026-03-09' }, 23],
      [{ id: '2026-03-02', name: '2026-03-02' }, 100],
    ]);
    expect(second.nextCursor).toBeNull();
  });

  it('filters by story and agent, and finds no story that the caller may not see', async () => {
    const second = await acquire('WEB-2', 'r2');
    await renew({ model: 'm', costMicros: 100 });
    await renew({ model: 'm', costMicros: 30 }, second);
    const costs = async (filter: { storyId?: string; agentId?: string }) =>
      (await people.dan.usage.summary({ groupBy: 'model', ...filter })).items.map(
        ({ costMicros }) => costMicros,
      );
    expect(await costs({})).toEqual([130]);
    expect(await costs({ storyId: 'WEB-2' })).toEqual([30]);
    expect(await costs({ agentId: 'robo' })).toEqual([130]);
    expect(await costs({ agentId: newId() })).toEqual([]);
    await expect(costs({ storyId: newId() })).rejects.toMatchObject({ status: 404 });
    await world.rows(`update projects set visibility = 'private' where org_id = $1`, people.orgId);
    await expect(costs({ storyId: 'WEB-1' })).rejects.toMatchObject({ status: 404 });
  });

  it('counts landed stories, and divides their cost', async () => {
    await renew({ model: 'm', costMicros: 101 });
    expect((await listSums('project'))[0]).toMatchObject({ landed: 0, costPerLanded: null });
    await world.rows(
      `update stories set status = 'done', completed_at = now() where org_id = $1 and id = any ($2::uuid[])`,
      people.orgId,
      stories,
    );
    expect((await listSums('project'))[0]).toMatchObject({ landed: 1, costPerLanded: 101 });
  });

  it('leaves out other days, and projects that the caller may not see', async () => {
    await renew({ model: 'm', costMicros: 100 });
    const early = { from: '2020-01-01T00:00:00.000Z', to: '2020-02-01T00:00:00.000Z' };
    expect((await people.dan.usage.summary({ groupBy: 'day', ...early })).items).toEqual([]);
    await world.rows(`update projects set visibility = 'private' where org_id = $1`, people.orgId);
    expect(await listSums()).toEqual([]);
    await expect(people.dan.usage.summary({ groupBy: 'day', projectId })).rejects.toMatchObject({
      status: 404,
    });
    await expect(people.dan.usage.summary({ groupBy: 'day', projectId: newId() })).rejects.toMatchObject({
      status: 404,
    });
  });
});
