/**
 * Property: whatever the order in which agents on two machines report their totals, repeated or late, the costs of a
 * budget are exact, and a run that renews after the budget is used up is asked to stop.
 */
import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import fc from 'fast-check';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
const runCount = 3;

interface Report {
  readonly run: number;
  /** The total cost of the run when the report was written. */
  readonly total: number;
}
type CountReports = (reports: readonly Report[]) => number;

/** Adds the highest total of each run. */
const sumOfTotals: CountReports = (reports) =>
  Array.from({ length: runCount }, (_, run) =>
    Math.max(0, ...reports.filter((report) => report.run === run).map(({ total }) => total)),
  ).reduce((sum, total) => sum + total, 0);

const reportsArbitrary = fc.array(
  fc.record({ run: fc.nat({ max: runCount - 1 }), total: fc.nat({ max: 400 }) }),
  { minLength: 2, maxLength: 12 },
);
const scenario = fc.record({
  reports: reportsArbitrary,
  amountMicros: fc.integer({ min: 1, max: 900 }),
  /** The sizes of the groups of reports that arrive at the same time. */
  batchSize: fc.integer({ min: 1, max: 3 }),
});

/** Plays the reports, and returns false if the costs differ from `count` or a stop is missing or wrong. */
async function checkBudgetInvariant(
  { reports, amountMicros, batchSize }: { reports: Report[]; amountMicros: number; batchSize: number },
  count: CountReports,
): Promise<boolean> {
  const { people } = await arrangeStories(world, { count: runCount });
  await people.ana.budgets.set({ scope: 'org', amountMicros, period: 'total', action: 'stop' });
  const leases = await Promise.all(
    Array.from({ length: runCount }, async (_, run) => {
      const target = { targetType: 'story', targetId: `WEB-${run + 1}` } as const;
      const granted = await people.robo.deliveryExecutions.acquire({ ...target, runId: `run-${run}` });
      return { executionId: granted.execution.id, leaseToken: granted.leaseToken };
    }),
  );
  const renew = async (run: number, usage?: { model: string; costMicros: number }) => {
    const lease = leases[run];
    if (lease === undefined) throw new Error('the run has no lease');
    const { signals } = await people.robo.deliveryExecutions.renew({
      ...lease,
      ...(usage !== undefined && { usage }),
    });
    return signals.some(({ kind, data }) => kind === 'stop_requested' && data['reason'] === 'budget');
  };
  for (let done = 0; done < reports.length; done += batchSize) {
    const batch = reports.slice(done, done + batchSize);
    await Promise.all(batch.map(({ run, total }) => renew(run, { model: 'm', costMicros: total })));
    const expected = count(reports.slice(0, done + batchSize));
    const [budget] = (await people.ana.budgets.list({})).items;
    if (budget?.spentMicros !== expected) return false;
    for (let run = 0; run < runCount; run += 1)
      if ((await renew(run)) !== expected >= amountMicros) return false;
  }
  return true;
}

it('holds for totals in any order', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, (played) => checkBudgetInvariant(played, sumOfTotals)),
    { numRuns: 20 },
  );
});

it('finds the error of a product that adds up reports instead of totals', async () => {
  const sumOfReports: CountReports = (reports) => reports.reduce((sum, { total }) => sum + total, 0);
  const repeated = { run: 0, total: 100 };
  const played = { reports: [repeated, { run: 1, total: 50 }, repeated], amountMicros: 200, batchSize: 1 };
  expect(await checkBudgetInvariant(played, sumOfTotals)).toBe(true);
  expect(await checkBudgetInvariant(played, sumOfReports)).toBe(false);
});
