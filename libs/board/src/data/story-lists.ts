/**
 * Pages of a project's stories. Hand-written for the board's order, which is by column and then by rank: a page
 * reads its own rows and no others, wherever it begins and however long the board. A search by words or label looks
 * through the stories in the order asked for, so many at most.
 */
import {
  containing,
  CursorCount,
  CursorId,
  CursorText,
  CursorTime,
  type Db,
  decodeCursor,
  type Id,
  mostLookedAt,
  of,
  pageOfSearch,
  type Part,
  searched,
  sql,
} from '@muster/database';
import { type ParamsOf, type Registry, type StoryStatus, type StorySummary } from '@muster/registry';
import { z } from 'zod';
import { storySummaries, type StorySummaryRow, toStorySummary } from './stories.ts';

type ListParams = ParamsOf<Registry['stories']['list']>;

/** What pages are cut from: the project, and the conditions on a story `s`. */
interface Source {
  readonly project: Id;
  readonly where: readonly Part[];
}

/** The position of its column comes with a story in the board's order alone. */
type BoardRow = StorySummaryRow & { readonly position?: number };

/** Canceled stories come after any column. */
const afterAllColumns = 2_147_483_647;

const cursors = {
  /** The last row's column, by position and id ('' for the canceled ones), and its rank. */
  board: z.tuple([z.literal('board'), CursorCount, CursorId.or(z.literal('')), CursorText]),
  updated: z.tuple([z.literal('updated'), CursorTime, CursorId]),
  created: z.tuple([z.literal('created'), CursorId]),
};

const keyOfProject = (project: Id): Part =>
  sql.part`(select k.key from projects k where ${of('k')} and k.id = ${project})`;

const shown = (source: Source): Part =>
  sql.part`${storySummaries.list}, ${keyOfProject(source.project)} as project_key`;

const stories = ({ project, where }: Source, ...more: Part[]): Part =>
  sql.part`from stories s where ${sql.join([of('s'), sql.part`s.project_id = ${project}`, ...where, ...more], ' and ')}`;

const statusesOf = ({ status }: ListParams): readonly StoryStatus[] | undefined =>
  typeof status === 'string' ? [status] : status;

/** What an index cannot find: then the stories are looked through. */
const isSearch = ({ query, label }: ListParams): boolean => query !== undefined || label !== undefined;

/** The filters that go by the story itself, a row of this name; in the board's order, status and column choose lanes instead. */
function filters(params: ListParams, alias: 's' | 'q'): Part[] {
  const row = sql.word(alias);
  const where: Part[] = [];
  const assigned = (column: 'member_id' | 'agent_id', id: string) =>
    where.push(sql.part`exists (select from assignments a where ${of('a')} and a.target_type = 'story'
      and a.target_id = ${row}.id and a.${sql.word(column)} = ${id})`);
  if (params.epicId !== undefined) where.push(sql.part`${row}.epic_id = ${params.epicId}`);
  if (params.label !== undefined) where.push(sql.part`${row}.labels @> ${[params.label]}::text[]`);
  if (params.updatedSince !== undefined && params.sort !== 'updated')
    where.push(sql.part`${row}.updated_at >= ${params.updatedSince}`);
  if (params.assigneeId !== undefined) assigned('member_id', params.assigneeId);
  if (params.agentId !== undefined) assigned('agent_id', params.agentId);
  if (params.query !== undefined) {
    const pattern = containing(params.query);
    where.push(
      sql.part`(${row}.title ilike ${pattern} or (${row}.project_key || '-' || ${row}.number) ilike ${pattern})`,
    );
  }
  return where;
}

/**
 * The board: `lanes` are the columns from the cursor's on, each with the room that the lanes before it leave on the
 * page. Columns know how many stories they have; of the cursor's own, those that are left are counted, as far as
 * the page goes. A filter leaves any number of them, so then each lane may have the whole page.
 */
function boardPage(source: Source, params: ListParams, limit: Part): Part {
  const { project } = source;
  const cursor = decodeCursor(params.cursor, cursors.board);
  const statuses = statusesOf(params);
  const filtered = source.where.length > 0;
  const lanesWhere = [of('c'), sql.part`c.project_id = ${project}`];
  if (params.columnId !== undefined) lanesWhere.push(sql.part`c.id = ${params.columnId}`);
  if (statuses !== undefined) lanesWhere.push(sql.part`c.status = any (${statuses}::text[])`);
  let after = sql.part`''`;
  let count = sql.part`c.story_count`;
  if (cursor !== undefined) {
    const [, position, column, rank] = cursor;
    const rankAfter = column === '' ? sql.part`''` : sql.part`${rank}`;
    const at = sql.part`${column === '' ? null : column}`;
    lanesWhere.push(sql.part`(c.position, c.id) >= (${position}::int, ${at}::uuid)`);
    after = sql.part`case when c.id = ${at} then ${rankAfter} else '' end`;
    const left = sql.part`select from stories n where ${of('n')} and n.project_id = ${project}
      and n.column_id = c.id and n.rank > ${rankAfter} limit ${limit}`;
    count = sql.part`case when c.id = ${at} then (select count(*) from (${left}) n) else c.story_count end`;
  }
  const lanes = sql.part`
    select c.id, c.position, ${after} as after, ${filtered ? sql.part`0` : count} as stories
    from board_columns c where ${sql.join(lanesWhere, ' and ')}`;
  const parts = [
    sql.part`select l.position, s.* from lanes l cross join lateral (
       select ${storySummaries.list} ${stories(source, sql.part`s.column_id = l.id`, sql.part`s.rank > l.after`)} order by s.rank limit l.room) s
     where l.room > 0`,
  ];
  if (params.columnId === undefined && (statuses === undefined || statuses.includes('canceled'))) {
    const canceledAfter = cursor?.[2] === '' ? sql.part`${cursor[3]}` : sql.part`''`;
    parts.push(sql.part`(select ${sql.literal(afterAllColumns)}, ${storySummaries.list}
      ${stories(source, sql.part`s.column_id is null`, sql.part`s.rank > ${canceledAfter}`)} order by s.column_id, s.rank
      limit greatest((select ${limit} - coalesce(sum(l.stories), 0) from lanes l), 0))`);
  }
  return sql.part`
    with counted as materialized (${lanes}),
    lanes as materialized (
      select c.id, c.position, c.after, c.stories, ${limit} - coalesce(sum(c.stories)
        over (order by c.position, c.id rows between unbounded preceding and 1 preceding), 0) as room from counted c)
    select s.position, ${shown(source)} from (${sql.join(parts, ' union all ')}) s
    order by s.position, s.column_id, s.rank`;
}

function timePage(source: Source, params: ListParams): Part {
  const where: Part[] = [];
  const statuses = statusesOf(params);
  if (params.columnId !== undefined) where.push(sql.part`s.column_id = ${params.columnId}`);
  if (statuses !== undefined) where.push(sql.part`s.status = any (${statuses}::text[])`);
  const page = (order: Part) =>
    sql.part`select ${shown(source)} ${stories(source, ...where)} order by ${order}`;
  if (params.sort === 'created') {
    const cursor = decodeCursor(params.cursor, cursors.created);
    if (cursor !== undefined) where.push(sql.part`s.id < ${cursor[1]}`);
    return page(sql.part`s.id desc`);
  }
  // In this order it ends the walk, also where something is looked for.
  if (params.updatedSince !== undefined) where.push(sql.part`s.updated_at >= ${params.updatedSince}`);
  const cursor = decodeCursor(params.cursor, cursors.updated);
  if (cursor !== undefined)
    where.push(sql.part`(s.updated_at, s.id) < (${cursor[1]}::timestamptz, ${cursor[2]}::uuid)`);
  return page(sql.part`s.updated_at desc, s.id desc`);
}

const orderOf = {
  board: sql.part`q.position, q.column_id, q.rank`,
  updated: sql.part`q.updated_at desc, q.id desc`,
  created: sql.part`q.id desc`,
} satisfies Record<ListParams['sort'], Part>;

const cursorOf = {
  board: (row: BoardRow) => ['board', row.position ?? afterAllColumns, row.column_id ?? '', row.rank],
  updated: (row: BoardRow) => ['updated', row.updated_at, row.id],
  created: (row: BoardRow) => ['created', row.id],
} satisfies Record<ListParams['sort'], (row: BoardRow) => (string | number)[]>;

/** A page of the stories of a project that pass the filters, in the order asked for. */
export async function listStories(
  db: Db,
  project: Id,
  params: ListParams,
): Promise<{ items: StorySummary[]; nextCursor: string | null }> {
  const isSearched = isSearch(params);
  const where = filters(params, isSearched ? 'q' : 's');
  const source: Source = { project, where: isSearched ? [] : where };
  // Written out: of a limit that is a parameter Postgres expects a tenth of the project, and plans for that.
  const limit = sql.literal(params.limit + 1);
  const text =
    params.sort === 'board'
      ? boardPage(source, params, isSearched ? sql.literal(mostLookedAt) : limit)
      : timePage(source, params);
  const fits = isSearched ? sql.join(where, ' and ') : null;
  const rows = await db.all(sql<BoardRow>`${searched(text, fits, orderOf[params.sort], limit)}`);
  return pageOfSearch(rows, params.limit, cursorOf[params.sort], toStorySummary);
}
