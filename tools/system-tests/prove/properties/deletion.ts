/**
 * Deletes a large project while the process that removes its rows is killed repeatedly. Removed rows must
 * stay removed, and in the end no table may have a row left. Calls in another organization must not become
 * slower.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type Client } from '@muster/client';
import { newId, type Pool } from '@muster/driver';
import { quantile } from '../callers.ts';
import { property, type Findings, type RunSetup } from '../property.ts';
import { openSite } from '../site.ts';

interface Extent {
  readonly stories: number;
  readonly commentsPerStory: number;
  readonly kills: number;
  /**
   * The number of calls in another organization before each removal, and again during it. A short run is too
   * small to measure.
   */
  readonly calls: number;
  /** Is true if one statement removes all rows, instead of a portion at a time. */
  readonly isAtOnce?: boolean;
}

const remover = path.join(import.meta.dirname, 'deletion/remover.ts');
/**
 * The tables in which an organization may keep rows, and the largest number of rows: its rights epoch and the
 * words of its search index.
 */
const tablesOfOrganizations: Readonly<Record<string, number>> = { rights_epochs: 1, search_words: 2 };
/** The number of stories that one statement inserts. */
const batchSize = 500;
/** The minimum number of removals with concurrent calls. With fewer, their median means nothing. */
const leastRounds = 3;
/**
 * Durations that differ by fewer milliseconds than this count as equal, because a busy machine causes such
 * differences.
 */
const leastMillis = 20;

async function run({ services, note }: RunSetup, extent: Extent): Promise<Findings> {
  const { isAtOnce = false } = extent;
  const { ana: api, database, projectId } = await openSite(services, { people: 1 });
  const { owner, url } = database;
  const deleted = await arrange(owner, extent);
  const parameters = [url, ...deleted, ...(isAtOnce ? ['at once'] : [])];
  const all = total(await rowsOf(owner, deleted));
  note(`${all} rows are there`);
  const violations: string[] = [];
  const timed = async (into: number[]): Promise<void> => {
    if (extent.calls > 0) into.push(await p95Of(api, projectId, extent.calls));
  };
  const [calm, busy]: [number[], number[]] = [[], []];

  for (let kill = 1; kill <= extent.kills; kill += 1) {
    const left = total(await rowsOf(owner, deleted));
    await timed(calm);
    const removal = remove(parameters);
    await removal.said(1);
    const meanwhile: number[] = [];
    await timed(meanwhile);
    if (!isAtOnce) await removal.said(3);
    removal.kill();
    // If the removal finished before the kill, some of the timed calls ran without a removal. In that case
    // none of these calls count.
    if (await removal.wasKilled) busy.push(...meanwhile);
    if (total(await rowsOf(owner, deleted)) >= left)
      violations.push('a kill took back what was removed before it');
    note(`killed ${kill} times; ${total(await rowsOf(owner, deleted))} rows are left`);
  }
  await remove(parameters).wasKilled;
  for (const [table, rows] of await rowsOf(owner, deleted)) {
    const left = rows - (tablesOfOrganizations[table] ?? 0);
    if (left > 0) violations.push(`${left} rows of ${table} are left`);
  }
  const [before, after] = [quantile(calm, 0.5), quantile(busy, 0.5)];
  if (extent.calls > 0 && busy.length < leastRounds)
    violations.push(`calls were made beside ${busy.length} removals only`);
  if (after > Math.max(2 * before, leastMillis))
    violations.push(
      `calls in another organization took ${Math.round(after)} ms, and before ${Math.round(before)} ms`,
    );
  return {
    violations: [...new Set(violations)],
    figures: {
      'rows to remove': all,
      kills: extent.kills,
      ...(extent.calls > 0 && {
        'ms of another organization, p95, before': Math.round(before),
        'and meanwhile': Math.round(after),
      }),
    },
  };
}

/** A running removal process. */
interface Removal {
  /** Resolves when the process has reported the given number of portions, or has ended. */
  said(portions: number): Promise<void>;
  kill(): void;
  /** Resolves when the process ends, to true if it was killed. */
  readonly wasKilled: Promise<boolean>;
}

function remove(parameters: readonly string[]): Removal {
  const child = spawn(process.execPath, [remover, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
  const wasKilled = once(child, 'close').then(([, signal]) => signal === 'SIGKILL');
  let said = 0;
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString().split('\n').length - 1;
  });
  return {
    said: async (portions) => {
      while (said < portions && child.exitCode === null)
        await Promise.race([once(child.stdout, 'data'), wasKilled]);
    },
    kill: () => child.kill('SIGKILL'),
    wasKilled,
  };
}

const total = (rows: ReadonlyMap<string, number>): number =>
  [...rows.values()].reduce((sum, count) => sum + count, 0);

/** Counts the rows of an organization in each table. */
async function rowsOf(owner: Pool, [orgId]: readonly string[]): Promise<Map<string, number>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id')`,
  );
  const counted = tables.map(
    ({ name }) => `select '${name}' as name, count(*)::int as n from ${name} where org_id = $1`,
  );
  const { rows } = await owner.query<{ name: string; n: number }>(counted.join(' union all '), [orgId]);
  return new Map(rows.map(({ name, n }) => [name, n]));
}

/** Measures the 95th percentile of the durations of alternating reads and writes, one after the other. */
async function p95Of(api: Client, projectId: string, calls: number): Promise<number> {
  const millis: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const from = performance.now();
    await (call % 2 === 0
      ? api.stories.list({ projectId })
      : api.stories.create({ projectId, title: 'Beside it' }));
    millis.push(performance.now() - from);
  }
  return quantile(millis, 0.95);
}

/** Creates an organization with one large project that is marked as deleted. */
async function arrange(owner: Pool, { stories, commentsPerStory }: Extent): Promise<[string, string]> {
  const [orgId, projectId, columnId] = [newId(), newId(), newId()];
  await owner.query(`
    insert into orgs (id, slug, name) values ('${orgId}', 'gone-${orgId.slice(-12)}', 'Gone');
    insert into projects (org_id, id, key, name, visibility, origin, deleted_at)
      values ('${orgId}', '${projectId}', '${projectId}', 'Large', 'org', 'hosted', now());
    insert into board_columns (org_id, id, project_id, name, status, position)
      values ('${orgId}', '${columnId}', '${projectId}', 'Backlog', 'backlog', 0)`);
  for (let first = 1; first <= stories; first += batchSize) {
    const last = Math.min(first + batchSize - 1, stories);
    await owner.query(`
      begin;
      select set_config('muster.counts', 'by hand', true);
      insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
        select '${orgId}', gen_random_uuid(), '${projectId}', n, 'A story', 'backlog', '${columnId}', lpad(n::text, 8, '0'), '{}'
        from generate_series(${first}, ${last}) n;
      insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
        select s.org_id, gen_random_uuid(), s.id, 'comment', 'A comment', '{}', gen_random_uuid()
        from stories s, generate_series(1, ${commentsPerStory})
        where s.org_id = '${orgId}' and s.number between ${first} and ${last};
      commit`);
  }
  await owner.query('analyze stories, comments');
  return [orgId, projectId];
}

const short: Extent = { stories: 200, commentsPerStory: 20, kills: 2, calls: 0 };

export const deletion = property<Extent>({
  name: 'deletion',
  promise:
    'What a member deleted is removed to the last row, however large it is and however often the worker that removes it is killed, and no other caller waits for it.',
  short,
  long: { stories: 20_000, commentsPerStory: 10, kills: 10, calls: 50 },
  run,
  controls: [
    {
      name: 'it is removed by one statement',
      leftTo: 'nx long',
      extent: { ...short, kills: 1, isAtOnce: true },
    },
  ],
});
