/**
 * Compares writes with bare servers that each do one step more. The first returns a constant answer. The last
 * keeps all promises: the product's tables with their keys and triggers, and numbers in commit order. Its
 * transaction checks the token, holds the project open and reads the record before it writes.
 */
import { type Pool } from '@muster/driver';
import { bareTables } from './bare-statements.ts';
import { type BenchOrg, makeOrgs } from './data.ts';
import { climb, type Ladder, type LadderSummary, type Rung } from './ladder.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort } from './measure.ts';
import { sendInTurn } from './memory.ts';
import { rowsWritten } from './rows-written.ts';
import { poolSize, type Services } from './services.ts';
import { connections, type Workload } from './work.ts';
import { works } from './works.ts';
import { stepNames } from './write-steps.ts';

/**
 * Updates Postgres' statistics without a statement timeout, because ANALYZE may take longer than a call is
 * allowed to.
 */
const analyze = 'begin; set local statement_timeout = 0; analyze; commit';

const orgCount = 8;
const projectsPerOrg = 2;

/**
 * The lowest acceptable share of the last bare server's rate by processor time
 * (docs/decisions/performance.md).
 */
const goals: Readonly<Record<string, number>> = {
  'stories.create': 0.75,
  'stories.updateStatus': 0.6,
  'comments.create': 0.7,
  'acquire → checkpoint → release': 0.75,
  'deliveryExecutions.renew': 0.75,
  'deliveryExecutions.checkpoint': 0.75,
};
/**
 * The number of requests of a connection whose written rows are compared: two rounds of the longest workload.
 */
const compared = 6;

const lanesOf = (work: Workload, orgs: readonly BenchOrg[], side: 'muster' | 'bare'): LoadRequest[][] =>
  Array.from({ length: connections }, (_, connection) =>
    // Both sides send the token, because the last bare servers check it.
    work
      .lane(orgs, connection)
      .map(({ muster, bare }) => ({ ...{ muster, bare }[side], headers: muster.headers })),
  );

/**
 * Throws if the servers write different rows. A server that writes less than promised would be no valid
 * comparison.
 */
async function requireSameRows(owner: Pool, { service, bare, asked }: Ladder): Promise<void> {
  const withAll = bare.at(-1);
  for (const { name, lanes, bareLanes } of asked) {
    const left = async (url: string, [requests = []]: typeof lanes): Promise<string> => {
      const rows = await rowsWritten(owner, () => sendInTurn(url, requests.slice(0, compared)));
      return [...rows].map(([table, count]) => `${table} ${count}`).join(', ');
    };
    const [ours, theirs] = [await left(service.url, lanes), await left(withAll?.url ?? '', bareLanes)];
    if (ours !== theirs) throw new Error(`${name} writes ${ours}; bare with all of it ${theirs}`);
  }
}

/** Measures the workloads that `only` names. If it is undefined, measures all workloads that have a goal. */
export async function measureWrites(
  services: Services,
  effort: Effort,
  only: readonly string[] | undefined,
): Promise<LadderSummary[]> {
  effort.say('Starting PostgreSQL (fsync on), coordination-api, and the bare servers');
  const { postgres, api, owner, bench } = await services.installation();
  // The product and the bare server have separate organizations, because moves on the bare server use ranks
  // that the product never uses.
  const several = { count: orgCount, projects: projectsPerOrg };
  const ours = await makeOrgs(owner, api.url, 'ours', several);
  const theirs = await makeOrgs(owner, api.url, 'theirs', several);
  await owner.query(bareTables);
  // The bare server's sequences start far above the product's numbers, because the product and some bare
  // servers write to the same tables.
  await owner.query(`alter sequence bare.activity_seq restart 1000000000`);
  await owner.query(`alter sequence bare.audit_seq restart 1000000000`);
  await owner.query('grant usage on schema bare to muster_app');
  await owner.query('grant usage on all sequences in schema bare to muster_app');
  await owner.query(analyze);
  const surroundings = { DATABASE_URL: postgres.url, DATABASE_POOL: poolSize };
  const bare: Rung[] = [];
  for (const [step, name] of Object.entries(stepNames))
    bare.push({ name, url: await services.bareServer({ ...surroundings, STEP: step }) });
  const asked = works
    .filter(({ name }) => goals[name] !== undefined && (only === undefined || only.includes(name)))
    .map((work) => ({
      name: work.name,
      lanes: lanesOf(work, ours, 'muster'),
      bareLanes: lanesOf(work, theirs, 'bare'),
      goal: goals[work.name] ?? 0,
    }));
  const service = { name: 'coordination-api', url: api.url };
  const ladder = { bare, service, asked, statement: stepNames.statement };
  await requireSameRows(owner, ladder);
  return climb(bench, ladder, effort, async () => {
    await owner.query(analyze);
  });
}
