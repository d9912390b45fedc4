/**
 * Lists a project's stories in pages. The SQL for the board's order, by column and then by rank, is
 * hand-written. A page reads only its own rows, regardless of its position and of the board's size. A search
 * by words or label examines a limited number of stories in the requested order.
 */
import {
  CursorCount,
  CursorId,
  CursorText,
  CursorTime,
  type Db,
  decodeCursor,
  type IdOrSql,
  maxSearchedRows,
  orgFilter,
  pageOfSearchRows,
  type Part,
  sql,
} from '@muster/driver';
import { type ParamsOf, type ResultOf, type StoryStatus } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { containsPattern, storyIdArraySql, storyIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { hasLabels } from './labels.ts';
import { type CardRow, toCard, selectWithCardColumns } from './story-cards.ts';
import { buildSearchPageQuery } from './story-search.ts';
import { storySummaries, type StorySummaryRow, toStorySummary } from './stories.ts';

type ListParams = ParamsOf<BoardRegistry['stories']['list']>;

/** The row of a story. Only queries in the board's order read the position of the story's column. */
type StoryListRow = StorySummaryRow & { readonly position?: number };

/** The position used for canceled stories, which come after all columns. */
const canceledStoriesPosition = 2_147_483_647;

const cursorSchemas = {
  /** The last row's column, by position and ID ('' for canceled stories), and its rank. */
  board: z.tuple([z.literal('board'), CursorCount, CursorId.or(z.literal('')), CursorText]),
  updated: z.tuple([z.literal('updated'), CursorTime, CursorId]),
  created: z.tuple([z.literal('created'), CursorId]),
};

const selectProjectKey = (project: IdOrSql): Part =>
  sql.part`(select k.key from projects k where ${orgFilter('k')} and k.id = ${project})`;

export const selectSummaryColumns = (project: IdOrSql): Part =>
  sql.part`${storySummaries.list}, ${selectProjectKey(project)} as project_key`;

const fromStories = (project: IdOrSql, ...conditions: Part[]): Part =>
  sql.part`from stories s where ${sql.join([orgFilter('s'), sql.part`s.project_id = ${project}`, ...conditions], ' and ')}`;

/** The filters that lists of one project and of all projects have in common. */
type StoryFilters = Pick<
  ListParams,
  | 'status'
  | 'columnId'
  | 'epicId'
  | 'parentId'
  | 'assigneeId'
  | 'agentId'
  | 'label'
  | 'query'
  | 'storyIds'
  | 'updatedSince'
>;

const statusesOf = ({ status }: StoryFilters): readonly StoryStatus[] | undefined =>
  typeof status === 'string' ? [status] : status;

/**
 * Reports whether a filter is set that the order's index does not cover. The index of the board's order
 * covers status and column.
 */
const needsSearch = ({
  query,
  label,
  epicId,
  parentId,
  assigneeId,
  agentId,
  storyIds,
  updatedSince,
  sort,
  columnId,
  status,
}: ListParams) =>
  [query, label, epicId, parentId, assigneeId, agentId, storyIds].some((filter) => filter !== undefined) ||
  (updatedSince !== undefined && sort !== 'updated') ||
  ((columnId !== undefined || status !== undefined) && sort !== 'board');

/** Returns the filters on columns of a story `q`. */
export function filterConditions(params: StoryFilters): Part[] {
  const where: Part[] = [];
  const assigned = (column: 'member_id' | 'agent_id', id: string) =>
    where.push(sql.part`exists (select from assignments a where ${orgFilter('a')} and a.target_type = 'story'
      and a.target_id = q.id and a.${sql.word(column)} = ${id})`);
  if (params.epicId !== undefined) where.push(sql.part`q.epic_id = ${params.epicId}`);
  if (params.parentId !== undefined) where.push(sql.part`q.parent_id = ${storyIdSql(params.parentId)}`);
  if (params.label !== undefined) where.push(hasLabels(sql.part`q.labels`, [params.label]));
  if (params.updatedSince !== undefined) where.push(sql.part`q.updated_at >= ${params.updatedSince}`);
  if (params.storyIds !== undefined) where.push(sql.part`q.id = any (${storyIdArraySql(params.storyIds)})`);
  if (params.assigneeId !== undefined) assigned('member_id', params.assigneeId);
  if (params.agentId !== undefined) assigned('agent_id', params.agentId);
  const statuses = statusesOf(params);
  if (params.columnId !== undefined) where.push(sql.part`q.column_id = ${params.columnId}`);
  if (statuses !== undefined) where.push(sql.part`q.status = any (${statuses}::text[])`);
  if (params.query !== undefined) {
    const pattern = containsPattern(params.query);
    // Every key contains a hyphen, so a text such as - does not name a story.
    const matchesKey = /[\p{L}\p{N}]/u.test(params.query)
      ? sql.part` or (q.project_key || '-' || q.number) ilike ${pattern}`
      : sql.empty;
    where.push(sql.part`(q.title ilike ${pattern}${matchesKey})`);
  }
  return where;
}

/**
 * Returns SQL for the board's order. `page_columns` are the columns from the cursor's on, each with the
 * number of rows that earlier columns leave on the page. Columns store their number of stories; in the
 * cursor's own column the remaining ones are counted, up to the page size. With a filter the numbers are
 * unknown, so each column may fill the page.
 */
function selectBoardPage(project: IdOrSql, params: ListParams, limit: Part): Part {
  const cursor = decodeCursor(params.cursor, cursorSchemas.board);
  const statuses = statusesOf(params);
  const columnsWhere = [orgFilter('c'), sql.part`c.project_id = ${project}`];
  if (params.columnId !== undefined) columnsWhere.push(sql.part`c.id = ${params.columnId}`);
  if (statuses !== undefined) columnsWhere.push(sql.part`c.status = any (${statuses}::text[])`);
  let after = sql.part`''`;
  let count = sql.part`c.story_count`;
  if (cursor !== undefined) {
    const [, position, column, rank] = cursor;
    const rankAfter = column === '' ? sql.part`''` : sql.part`${rank}`;
    const at = sql.part`${column === '' ? null : column}`;
    columnsWhere.push(sql.part`(c.position, c.id) >= (${position}::int, ${at}::uuid)`);
    after = sql.part`case when c.id = ${at} then ${rankAfter} else '' end`;
    const left = sql.part`select from stories n where ${orgFilter('n')} and n.project_id = ${project}
      and n.column_id = c.id and n.rank > ${rankAfter} limit ${limit}`;
    count = sql.part`case when c.id = ${at} then (select count(*) from (${left}) n) else c.story_count end`;
  }
  const counted = sql.part`
    select c.id, c.position, ${after} as after, ${count} as stories
    from board_columns c where ${sql.join(columnsWhere, ' and ')}`;
  const parts = [
    sql.part`select l.position, s.* from page_columns l cross join lateral (
       select ${storySummaries.list} ${fromStories(project, sql.part`s.column_id = l.id`, sql.part`s.rank > l.after`)} order by s.rank limit l.room) s
     where l.room > 0`,
  ];
  if (params.columnId === undefined && (statuses === undefined || statuses.includes('canceled'))) {
    const canceledAfter = cursor?.[2] === '' ? sql.part`${cursor[3]}` : sql.part`''`;
    parts.push(sql.part`(select ${sql.literal(canceledStoriesPosition)}, ${storySummaries.list}
      ${fromStories(project, sql.part`s.column_id is null`, sql.part`s.rank > ${canceledAfter}`)} order by s.column_id, s.rank
      limit greatest((select ${limit} - coalesce(sum(l.stories), 0) from page_columns l), 0))`);
  }
  return sql.part`
    with counted as materialized (${counted}),
    page_columns as materialized (
      select c.id, c.position, c.after, c.stories, ${limit} - coalesce(sum(c.stories)
        over (order by c.position, c.id rows between unbounded preceding and 1 preceding), 0) as room from counted c)
    select s.position, ${selectSummaryColumns(project)} from (${sql.join(parts, ' union all ')}) s
    order by s.position, s.column_id, s.rank`;
}

function selectPageByTime(project: IdOrSql, params: ListParams): Part {
  const where: Part[] = [];
  const page = (order: Part) =>
    sql.part`select ${selectSummaryColumns(project)} ${fromStories(project, ...where)} order by ${order}`;
  if (params.sort === 'created') {
    const cursor = decodeCursor(params.cursor, cursorSchemas.created);
    if (cursor !== undefined) where.push(sql.part`s.id < ${cursor[1]}`);
    return page(sql.part`s.id desc`);
  }
  // In the order of updates, this condition lets the scan end early, also for a search.
  if (params.updatedSince !== undefined) where.push(sql.part`s.updated_at >= ${params.updatedSince}`);
  const cursor = decodeCursor(params.cursor, cursorSchemas.updated);
  if (cursor !== undefined)
    where.push(sql.part`(s.updated_at, s.id) < (${cursor[1]}::timestamptz, ${cursor[2]}::uuid)`);
  return page(sql.part`s.updated_at desc, s.id desc`);
}

/** Returns the condition that a row `q` comes after the cursor. */
function afterCursorCondition({ sort, cursor: text }: ListParams): Part {
  if (text === undefined) return sql.part`true`;
  if (sort === 'created') {
    const cursor = decodeCursor(text, cursorSchemas.created);
    return sql.part`q.id < ${cursor[1]}`;
  }
  if (sort === 'updated') {
    const cursor = decodeCursor(text, cursorSchemas.updated);
    return sql.part`(q.updated_at, q.id) < (${cursor[1]}::timestamptz, ${cursor[2]}::uuid)`;
  }
  const [, position, column, rank] = decodeCursor(text, cursorSchemas.board);
  if (column === '') return sql.part`q.column_id is null and q.rank > ${rank}`;
  return sql.part`(q.position > ${position}::int or q.position = ${position}::int
    and (q.column_id > ${column}::uuid or q.column_id = ${column}::uuid and q.rank > ${rank}))`;
}

/**
 * Reports whether the search text is long enough for the index of titles. A shorter text occurs in too many
 * titles.
 */
const isLongEnoughForTitleIndex = (query: string): boolean => query.length >= 3;

/** Returns, for each filter that names records, SQL for the IDs of all matching stories, found by an index. */
export function selectMatchesByRecord({
  epicId,
  parentId,
  assigneeId,
  agentId,
  storyIds,
}: StoryFilters): Part[] {
  const sets: Part[] = [];
  if (storyIds !== undefined) sets.push(sql.part`select unnest(${storyIdArraySql(storyIds)}) as id`);
  for (const [column, id] of [['member_id', assigneeId] as const, ['agent_id', agentId] as const])
    if (id !== undefined)
      sets.push(sql.part`select a.target_id as id from assignments a
        where ${orgFilter('a')} and a.target_type = 'story' and a.${sql.word(column)} = ${id}`);
  if (epicId !== undefined)
    sets.push(sql.part`select s.id from stories s where ${orgFilter('s')} and s.epic_id = ${epicId}`);
  if (parentId !== undefined)
    sets.push(
      sql.part`select s.id from stories s where ${orgFilter('s')} and s.parent_id = ${storyIdSql(parentId)}`,
    );
  return sets;
}

/** Returns, for each filter, SQL for the IDs of all matching stories, found by an index. */
function selectIndexedMatches(params: ListParams, project: IdOrSql): Part[] {
  const { query, label, updatedSince, columnId } = params;
  const sets = selectMatchesByRecord(params);
  const inProject = sql.part`${orgFilter('s')} and s.project_id = ${project}`;
  if (updatedSince !== undefined)
    sets.push(sql.part`select s.id from stories s where ${inProject} and s.updated_at >= ${updatedSince}`);
  if (columnId !== undefined)
    sets.push(sql.part`select s.id from stories s where ${inProject} and s.column_id = ${columnId}`);
  const statuses = statusesOf(params);
  if (statuses !== undefined)
    sets.push(sql.part`select * from (
        select s.id from board_columns c join stories s on ${inProject} and s.column_id = c.id
        where ${orgFilter('c')} and c.project_id = ${project} and c.status = any (${statuses}::text[])
        union all
        (select s.id from stories s where ${inProject} and s.column_id is null and 'canceled' = any (${statuses}::text[])
          order by s.column_id, s.rank)) s`);
  // The set from the search index comes last, because that index reads all entries of a common word or label.
  const words = query !== undefined && isLongEnoughForTitleIndex(query) ? query : undefined;
  const grams = words === undefined ? sql.empty : sql.part` || app.grams(${words})`;
  const selectByKeys = (keys: Part): Part =>
    sql.part`select f.id from app.stories_with(array['p' || ${project}::text]${keys}${grams}, ${sql.literal(maxSearchedRows + 1)}) as f (id)`;
  if (label !== undefined)
    // The index has labels as they are spelled, and their words in lower case.
    sets.push(sql.part`${selectByKeys(sql.part` || array['l' || ${label}::text]`)}
      union ${selectByKeys(sql.part` || array(select 'b' || w.word from unnest(app.words(${label})) as w (word) where w.word ~ '[[:alnum:]]')`)}`);
  else if (words !== undefined) sets.push(selectByKeys(sql.empty));
  return sets;
}

/** Returns the columns of a page for the story `n.id`. */
const selectCandidateColumns = (project: IdOrSql, params: ListParams): Part =>
  params.sort === 'board'
    ? sql.part`coalesce((select c.position from board_columns c where ${orgFilter('c')} and c.id = s.column_id),
        ${sql.literal(canceledStoriesPosition)}) as position, ${selectSummaryColumns(project)}`
    : selectSummaryColumns(project);

const orderBySort = {
  board: sql.part`q.position, q.column_id, q.rank`,
  updated: sql.part`q.updated_at desc, q.id desc`,
  created: sql.part`q.id desc`,
} satisfies Record<ListParams['sort'], Part>;

const cursorBySort = {
  board: (row: StoryListRow) => [
    'board',
    row.position ?? canceledStoriesPosition,
    row.column_id ?? '',
    row.rank,
  ],
  updated: (row: StoryListRow) => ['updated', row.updated_at, row.id],
  created: (row: StoryListRow) => ['created', row.id],
} satisfies Record<ListParams['sort'], (row: StoryListRow) => (string | number)[]>;

const selectSearchPage = (project: IdOrSql, params: ListParams, walk: Part, limit: Part): Part =>
  buildSearchPageQuery({
    ...{ walk, limit },
    candidateColumns: selectCandidateColumns(project, params),
    indexedIdSets: selectIndexedMatches(params, project),
    filterCondition: sql.join(filterConditions(params), ' and '),
    cursorCondition: afterCursorCondition(params),
    order: orderBySort[params.sort],
    candidateCondition: sql.part`${orgFilter('s')} and s.project_id = ${project} and s.id = n.id`,
  });

/** Lists a page of a project's stories that match the filters, in the requested order. */
export async function listStories(
  db: Db,
  project: IdOrSql,
  params: ListParams,
): Promise<ResultOf<BoardRegistry['stories']['list']>> {
  // The limit is a literal. If it were a parameter, Postgres would assume that a tenth of the project's
  // stories are needed, and would choose a bad plan.
  const limit = sql.literal(params.limit + 1);
  const isSearched = needsSearch(params);
  const walk =
    params.sort === 'board'
      ? selectBoardPage(project, params, isSearched ? sql.literal(maxSearchedRows) : limit)
      : selectPageByTime(project, params);
  const page = isSearched ? selectSearchPage(project, params, walk, limit) : sql.part`${walk} limit ${limit}`;
  if (params.view === 'card') {
    const cards = await db.all(
      sql<StoryListRow & CardRow>`${selectWithCardColumns(page, orderBySort[params.sort])}`,
    );
    return pageOfSearchRows(cards, params.limit, cursorBySort[params.sort], toCard);
  }
  const rows = await db.all(sql<StoryListRow>`${page}`);
  return pageOfSearchRows(rows, params.limit, cursorBySort[params.sort], toStorySummary);
}
