import { pathOf } from '@muster/registry';
import { createPool, migrate } from '@muster/database';
import pg from 'pg';
import { type BenchOrg, description, makeOrg, titleOf } from './data.ts';
import { startLoadProcess } from './load-process.ts';
import { type Effort, measure, type Sample } from './measure.ts';
import { type Summary, summarize } from './report.ts';
import { type Services } from './services.ts';

const small = 1_000;
const large = 100_000;
const connections = 8;
const ids = 512;

/**
 * Fills the still project up to `total` stories, in the columns it has, behind what stands there. A few of them, as
 * many in a small project as in a large one, have a label and a word in their title that no other has.
 */
const fill = `
  with place as (
    select c.org_id, c.project_id, c.id as column_id, c.status, row_number() over (order by c.position) - 1 as seat
    from board_columns c where c.project_id = $1)
  insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by,
    created_at, updated_at)
  select p.org_id, uuidv7(make_interval(secs => -n)), p.project_id, n,
    case when n % ($2::int / 5) = 0 then 'A needle' else $3::text end, $4::text, p.status, p.column_id,
    'z' || to_char(n, 'FM00000000'),
    case when n % ($2::int / 5) = 0 then array['rare'] else array['backend', 'bug'] end,
    jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana'),
    now() - make_interval(secs => n), now() - make_interval(secs => n)
  from generate_series((select last_story_number + 1 from project_counters where project_id = $1), $2::int) n
  join place p on p.seat = n % (select count(*) from place)`;

/** The same project with 1,000 stories and with 100,000, each in a database of its own on one server. */
export async function measureGrowth(
  services: Services,
  { rounds, seconds, say }: Effort,
): Promise<Summary[]> {
  const postgres = await services.postgres();
  const main = await services.bundle();
  const load = startLoadProcess();
  services.onStop(() => {
    load.stop();
  });
  const sideOf = async (stories: number): Promise<Side> => {
    say(`Making a project of ${stories.toLocaleString('en-US')} stories`);
    const admin = createPool({ url: postgres.url, role: null, max: 1 });
    await admin.query(`create database growth_${stories}`);
    await admin.end();
    const url = new URL(postgres.url);
    url.pathname = `/growth_${stories}`;
    await migrate(url.href);
    const api = await services.api(main, url.href);
    const owner = createPool({ url: url.href, role: null, max: 1 });
    const org = await makeOrg(owner, api.url, 'growth', 0);
    await fillUp(url.href, org.still.projectId, stories);
    const { rows } = await owner.query<{ id: string }>(
      'select id from stories where project_id = $1 order by number desc limit $2',
      [org.still.projectId, ids],
    );
    await owner.end();
    return { url: api.url, org, storyIds: rows.map(({ id }) => id) };
  };
  const [few, many] = [await sideOf(small), await sideOf(large)];
  const owner = createPool({ url: postgres.url, role: null, max: 1 });
  services.onStop(() => owner.end());
  const bench = { load, owner, postmaster: postgres.pid };
  const summaries: Summary[] = [];
  for (const { name, operation, params } of reads) {
    const run = (side: Side): Promise<Sample> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${side.org.token}` };
      const request = (index: number) => ({
        path: pathOf(operation),
        headers,
        body: JSON.stringify(params(side, index)),
      });
      const lanes = Array.from({ length: connections }, (_, lane) =>
        Array.from({ length: 64 }, (_none, index) => request(lane * 64 + index)),
      );
      return measure(bench, name, side.url, lanes, seconds);
    };
    const samples = { ours: [] as Sample[], theirs: [] as Sample[] };
    await run(few);
    await run(many);
    for (let round = 0; round < rounds; round += 1) {
      samples.theirs.push(await run(few));
      samples.ours.push(await run(many));
    }
    summaries.push(summarize({ name, ...samples, goal: 1 / 1.3, roundTrips: null }));
    say(`${name} measured`);
  }
  return summaries;
}

interface Side {
  readonly url: string;
  readonly org: BenchOrg;
  readonly storyIds: readonly string[];
}

interface Read {
  readonly name: string;
  readonly operation: string;
  readonly params: (side: Side, index: number) => Record<string, unknown>;
}

const list = (name: string, more: Record<string, unknown>): Read => ({
  name: `stories.list, ${name}`,
  operation: 'stories.list',
  params: ({ org }) => ({ projectId: org.still.projectId, ...more }),
});

const reads: readonly Read[] = [
  {
    name: 'stories.get',
    operation: 'stories.get',
    params: ({ storyIds }, index) => ({ storyId: storyIds[index % storyIds.length] }),
  },
  list('50 by board', { limit: 50 }),
  list('200 by board', { limit: 200 }),
  list('50 by updated', { limit: 50, sort: 'updated' }),
  list('50 by created', { limit: 50, sort: 'created' }),
  list('50 of a common label', { limit: 50, label: 'backend' }),
  list('5 of a rare label', { limit: 50, label: 'rare' }),
  list('5 by a rare word', { limit: 50, query: 'needle' }),
  list('50 done', { limit: 50, status: 'done' }),
  {
    name: 'projects.get with its counts',
    operation: 'projects.get',
    params: ({ org }) => ({ projectId: org.still.projectId }),
  },
  {
    name: 'boardColumns.list',
    operation: 'boardColumns.list',
    params: ({ org }) => ({ projectId: org.still.projectId }),
  },
];

/** By SQL: a hundred thousand calls would take longer than all of the measuring. */
async function fillUp(url: string, projectId: string, total: number): Promise<void> {
  // Not through createPool: its timeouts are for calls, and this takes longer than any call may.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Counting row by row would lock each column's row a thousand times over; it is counted once, at the end.
    await client.query(`set session_replication_role = replica`);
    await client.query(fill, [projectId, total, titleOf(1), description('board')]);
    await client.query(
      `update board_columns c set story_count = (select count(*) from stories s where s.org_id = c.org_id and s.column_id = c.id)`,
    );
    await client.query('update project_counters set last_story_number = $2 where project_id = $1', [
      projectId,
      total,
    ]);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
