/**
 * Writes beside bare servers that do a step more each: from a constant answer to all that the promises take, which is the
 * product's tables with what their keys and triggers keep, numbers in the order of commits, and a transaction that lets
 * the token in, holds the project open and looks at the record before it writes.
 */
import { migrate } from '@muster/database';
import { bareTables } from './bare-statements.ts';
import { type BenchOrg, makeOrgs } from './data.ts';
import { climb, type LadderSummary, startRungs } from './ladder.ts';
import { type LoadRequest } from './load-process.ts';
import { type Effort } from './measure.ts';
import { poolSize, type Services } from './services.ts';
import { connections, type Work } from './work.ts';
import { works } from './works.ts';
import { stepNames } from './write-steps.ts';

const orgCount = 8;
const projectsPerOrg = 2;

/** The least share of the bare server that does all of it, in processor time (docs/decisions/performance.md). */
const goals: Readonly<Record<string, number>> = { 'comments.create': 0.7, 'stories.updateStatus': 0.6 };

const lanesOf = (work: Work, orgs: readonly BenchOrg[], side: 'muster' | 'bare'): LoadRequest[][] =>
  Array.from({ length: connections }, (_, connection) =>
    // The token goes with both: the last bare servers let it in.
    work
      .lane(orgs, connection)
      .map(({ muster, bare }) => ({ ...{ muster, bare }[side], headers: muster.headers })),
  );

export async function measureWrites(services: Services, effort: Effort): Promise<LadderSummary[]> {
  effort.say('Starting PostgreSQL (fsync on), coordination-api, and the bare servers');
  const postgres = await services.postgres();
  await migrate(postgres.url);
  const api = await services.api(await services.bundle(), postgres.url);
  const owner = services.owner(postgres.url);
  // Apart from one another: a bare move puts stories where the product puts none.
  const several = { count: orgCount, projects: projectsPerOrg };
  const ours = await makeOrgs(owner, api.url, 'ours', several);
  const theirs = await makeOrgs(owner, api.url, 'theirs', several);
  await owner.query(bareTables);
  // Where both kinds of numbers stand in one table, they never meet.
  await owner.query(`alter sequence bare.activity_seq restart 1000000000`);
  await owner.query(`alter sequence bare.audit_seq restart 1000000000`);
  await owner.query('grant usage on schema bare to muster_app');
  await owner.query('grant usage on all sequences in schema bare to muster_app');
  await owner.query('analyze');
  const surroundings = { DATABASE_URL: postgres.url, DATABASE_POOL: poolSize };
  const bare = await startRungs(services, 'bare-writes.ts', stepNames, surroundings);
  const load = services.load();
  const asked = works
    .filter(({ name }) => goals[name] !== undefined)
    .map((work) => ({
      name: work.name,
      lanes: lanesOf(work, ours, 'muster'),
      bareLanes: lanesOf(work, theirs, 'bare'),
      goal: goals[work.name] ?? 0,
    }));
  const service = { name: 'coordination-api', url: api.url };
  const ladder = { bare, service, asked, statement: stepNames.statement };
  return climb({ load, owner, postmaster: postgres.pid }, ladder, effort, async () => {
    await owner.query('analyze');
  });
}
