/** Measures the figures for sizing: the bytes that a write adds to the write-ahead log and to tables. */
import { createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { type BenchOrg, description, makeOrg, titleOf } from './data.ts';
import { verdict, whole } from './report.ts';
import { type Services } from './services.ts';
import { pick } from './work.ts';

const measuredCalls = 300;
/**
 * Calls before the measurement, because full page images after a checkpoint are not part of a write's cost.
 */
const warmUpCalls = 30;

export interface OperationCost {
  readonly operation: string;
  /** Bytes of the write-ahead log without page images. */
  readonly logBytes: number;
  /** Bytes of tables and their indexes. */
  readonly tableBytes: number;
  readonly mostLogBytes: number;
}

/** Measures each write of a story's delivery. */
export async function measureScale(
  services: Services,
  say: (line: string) => void,
): Promise<OperationCost[]> {
  say('Starting PostgreSQL (fsync on), building and starting coordination-api');
  const { api, owner } = await services.installation();
  say(`What ${measuredCalls} calls of each write take`);
  return measureCosts(owner, await makeOrg(owner, api.url, 'costs', 5), api.url);
}

/** Makes the calls of a story's delivery, one after the other, each on its own stories. */
async function measureCosts(owner: Pool, org: BenchOrg, baseUrl: string): Promise<OperationCost[]> {
  const api = createClient(httpTransport({ baseUrl, token: org.token }));
  const backlog = org.busy.flatMap(({ backlogIds }) => backlogIds);
  const { projectId } = pick(org.busy, 0);
  const text = description('the board');
  const leases = new Map<string, { readonly executionId: string; readonly leaseToken: string }>();
  const storyOf = (index: number): string => pick(backlog, index);
  const leaseOf = (index: number) => {
    const lease = leases.get(storyOf(index));
    if (lease === undefined) throw new Error(`story ${index} has no lease`);
    return lease;
  };
  // The limit in bytes is 25 % above the value measured when the operation was last changed on purpose.
  const calls: readonly (readonly [string, number, (index: number) => Promise<unknown>])[] = [
    [
      'stories.create',
      15_000,
      (index) =>
        api.stories.create({
          ...{ projectId, title: titleOf(index), description: text, labels: ['backend', 'bug'] },
        }),
    ],
    [
      'storySpec.update',
      9_700,
      (index) => api.storySpec.update({ storyId: storyOf(index), content: text.repeat(4) }),
    ],
    [
      'comments.create',
      7_000,
      (index) => api.comments.create({ storyId: storyOf(index), body: text.slice(0, 300) }),
    ],
    [
      'deliveryExecutions.acquire',
      6_900,
      async (index) => {
        const storyId = storyOf(index);
        const { execution, leaseToken } = await api.deliveryExecutions.acquire({
          ...{ targetType: 'story', targetId: storyId },
        });
        leases.set(storyId, { executionId: execution.id, leaseToken });
      },
    ],
    ['deliveryExecutions.renew', 2_300, (index) => api.deliveryExecutions.renew(leaseOf(index))],
    [
      'deliveryExecutions.checkpoint',
      6_300,
      (index) =>
        api.deliveryExecutions.checkpoint({
          ...{ ...leaseOf(index), summary: text.slice(0, 120), nextSteps: ['Run the whole suite'] },
          filesTouched: [`src/part-${index}.ts`, `src/part-${index}.spec.ts`],
        }),
    ],
    [
      'deliveryExecutions.complete',
      5_500,
      (index) =>
        api.deliveryExecutions.complete({ ...leaseOf(index), outcome: 'succeeded', summary: 'Done' }),
    ],
    [
      'stories.updateStatus',
      5_300,
      (index) => api.stories.updateStatus({ storyId: storyOf(index), status: 'ready' }),
    ],
  ];
  const read = async (): Promise<{ readonly log: number; readonly tables: number }> => {
    const { rows } = await owner.query<{ log: number; tables: number }>(
      `select (pg_current_wal_insert_lsn() - '0/0')::float8 as log,
         (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c
            where c.relkind in ('r', 'm') and c.relnamespace = 'public'::regnamespace) as tables`,
    );
    return rows[0] ?? { log: NaN, tables: NaN };
  };
  await owner.query('alter system set full_page_writes = off');
  await owner.query('select pg_reload_conf()');
  const costs: OperationCost[] = [];
  try {
    for (const [operation, mostLogBytes, call] of calls) {
      for (let index = 0; index < warmUpCalls; index += 1) await call(index);
      const before = await read();
      for (let index = 0; index < measuredCalls; index += 1) await call(warmUpCalls + index);
      const after = await read();
      costs.push({
        ...{ operation, mostLogBytes, logBytes: (after.log - before.log) / measuredCalls },
        tableBytes: (after.tables - before.tables) / measuredCalls,
      });
    }
  } finally {
    await owner.query('alter system reset full_page_writes');
    await owner.query('select pg_reload_conf()');
  }
  return costs;
}

export function renderScale(costs: readonly OperationCost[]): string {
  const wide = Math.max(...costs.map(({ operation }) => operation.length));
  return costs
    .map(
      ({ operation, logBytes, mostLogBytes, tableBytes }) =>
        `  ${operation.padEnd(wide)}  ${whole(logBytes).padStart(7)} B of log (≤ ${whole(mostLogBytes)} ${verdict(logBytes <= mostLogBytes)}), ${whole(tableBytes)} B of tables and indexes`,
    )
    .join('\n');
}
