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

const sorts = ['board', 'updated', 'created'] as const;
const nobody = '00000000-0000-7000-8000-000000000000';

/** Each filter of the list, for what few stories have and for what most have, and some together. */
const filters: Readonly<Record<string, Record<string, unknown>>> = {
  '': {},
  ', of a common label': { label: 'backend' },
  ', of a rare label': { label: 'rare' },
  ', by a common word': { query: 'answer' },
  ', by a rare word': { query: 'needle' },
  ', by a digit': { query: '7' },
  ', done': { status: 'done' },
  ', canceled': { status: 'canceled' },
  ', assigned to nobody': { assigneeId: nobody },
  ', of no agent': { agentId: nobody },
  ', of no epic': { epicId: nobody },
  ', since long ago': { updatedSince: '2020-01-01T00:00:00.000Z' },
  ', since tomorrow': { updatedSince: '2100-01-01T00:00:00.000Z' },
  ', of a rare label and done': { label: 'rare', status: 'done' },
  ', of a common label and nobody': { label: 'backend', assigneeId: nobody },
};

const reads: readonly Read[] = [
  {
    name: 'stories.get',
    operation: 'stories.get',
    params: ({ storyIds }, index) => ({ storyId: storyIds[index % storyIds.length] }),
  },
  list('200 by board', { limit: 200 }),
  ...sorts.flatMap((sort) =>
    Object.entries(filters).map(([name, filter]) =>
      list(`50 by ${sort}${name}`, { limit: 50, sort, ...filter }),
    ),
  ),
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
      `insert into story_search (org_id, story_id, keys)
       select s.org_id, s.id, app.search_keys(s.project_id, s.labels, s.title, p.key || '-' || s.number)
       from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
       where s.project_id = $1 on conflict do nothing`,
      [projectId],
    );
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
