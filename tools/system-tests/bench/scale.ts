/**
 * Measures the figures for sizing: WAL and table bytes per write, writers in 1 to 8 organizations, 1 to 4
 * copies of the API, and renewals of 10,000 live leases.
 */
import { createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { pathOf } from '@muster/contract';
import { type BenchOrg, description, makeOrg, makeOrgs, titleOf } from './data.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort, measure, type Sample } from './measure.ts';
import { median, verdict, whole } from './report.ts';
import { type Services } from './services.ts';
import { connections, pick, type Workload } from './work.ts';
import { works } from './works.ts';

const organizations = 8;
/** The number of projects. With 90 stories in each backlog there are about 10,000 leases. */
const projectsPerOrganization = 14;
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

export interface Crowd {
  readonly label: string;
  /** Calls per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

export interface ScaleSummary {
  readonly costs: readonly OperationCost[];
  readonly crowds: readonly Crowd[];
}

export async function measureScale(
  services: Services,
  { rounds, seconds, say }: Effort,
): Promise<ScaleSummary> {
  say('Starting PostgreSQL (fsync on), building and starting coordination-api');
  const { postgres, main, api, owner, bench } = await services.installation();
  const copies = [api];
  const { url } = api;

  say(`What ${measuredCalls} calls of each write take`);
  const costs = await measureCosts(owner, await makeOrg(owner, url, 'costs', 5), url);

  say(`Making ${organizations} organizations of ${projectsPerOrganization} projects`);
  const several = { count: organizations, projects: projectsPerOrganization };
  const orgs = await makeOrgs(owner, url, 'scale', several);
  await owner.query('analyze');
  const benches = [bench];

  const crowds: Crowd[] = [];
  const crowd = async (what: string, run: () => Promise<Sample[]>): Promise<void> => {
    await run();
    const samples: Sample[][] = [];
    for (let round = 0; round < rounds; round += 1) samples.push(await run());
    const of = (value: (sample: Sample) => number): number =>
      median(samples.flatMap((each) => each.map(value)));
    const rate = median(samples.map((each) => each.reduce((sum, sample) => sum + sample.rate, 0)));
    crowds.push({ label: what, rate, p50: of(({ p50 }) => p50), p99: of(({ p99 }) => p99) });
    say(`${what} measured`);
  };
  /**
   * Runs the workload on the first `count` API instances at the same time. Each instance gets an equal share
   * of the connections.
   */
  const onCopies = (count: number, work: Workload, among: readonly BenchOrg[]): Promise<Sample[]> =>
    Promise.all(
      copies.slice(0, count).map((copy, place) => {
        const lanes = Array.from({ length: connections / count }, (_, lane) =>
          work.lane(among, lane * count + place).map(({ muster }) => muster),
        );
        return measure(pick(benches, place), `${work.name}, copy ${place}`, copy.url, lanes, seconds);
      }),
    );

  const [comment, read] = [workOf('comments.create'), workOf('stories.get')];
  for (const count of [1, 2, 4, 8])
    await crowd(`${comment.name}, ${count} organizations`, () => onCopies(1, comment, orgs.slice(0, count)));
  for (const count of [1, 2, 4]) {
    while (copies.length < count) {
      copies.push(await services.api(main, postgres.url));
      benches.push(await services.bench(owner, postgres));
    }
    for (const work of [read, comment])
      await crowd(`${work.name}, ${count} copies`, () => onCopies(count, work, orgs));
  }

  say('Taking the leases of all backlogs');
  const renewals = await takeLeases(orgs, url);
  const lanes = Array.from({ length: connections }, (_, lane) =>
    renewals.filter((_request, place) => place % connections === lane),
  );
  await crowd(`deliveryExecutions.renew of ${whole(renewals.length)} leases`, async () => [
    await measure(pick(benches, 0), 'renewals', url, lanes, seconds),
  ]);
  return { costs, crowds };
}

function workOf(name: string): Workload {
  const work = works.find((candidate) => candidate.name === name);
  if (work === undefined) throw new Error(`there is no work ${name}`);
  return work;
}

/**
 * Acquires a lease on each story in the backlogs, one after the other within an organization. Returns the
 * requests that renew these leases.
 */
async function takeLeases(orgs: readonly BenchOrg[], baseUrl: string): Promise<LoadRequest[]> {
  const renewals = orgs.map(async ({ token, busy }) => {
    const { deliveryExecutions } = createClient(httpTransport({ baseUrl, token }));
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const requests: LoadRequest[] = [];
    for (const targetId of busy.flatMap(({ backlogIds }) => backlogIds)) {
      const { execution, leaseToken } = await deliveryExecutions.acquire({ targetType: 'story', targetId });
      const body = JSON.stringify({ executionId: execution.id, leaseToken });
      requests.push({ path: pathOf('deliveryExecutions.renew'), headers, body });
    }
    return requests;
  });
  return (await Promise.all(renewals)).flat();
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

export function renderScale({ costs, crowds }: ScaleSummary): string {
  const wide = Math.max(
    ...[...costs.map(({ operation }) => operation), ...crowds.map(({ label: what }) => what)].map(
      ({ length }) => length,
    ),
  );
  return [
    ...costs.map(
      ({ operation, logBytes, mostLogBytes, tableBytes }) =>
        `  ${operation.padEnd(wide)}  ${whole(logBytes).padStart(7)} B of log (≤ ${whole(mostLogBytes)} ${verdict(logBytes <= mostLogBytes)}), ${whole(tableBytes)} B of tables and indexes`,
    ),
    ...crowds.map(
      ({ label: what, rate, p50, p99 }) =>
        `  ${what.padEnd(wide)}  ${whole(rate).padStart(7)} a second, p50 ${whole(p50)} ms, p99 ${whole(p99)} ms`,
    ),
  ].join('\n');
}
