/**
 * Lists stories of all projects that the caller may see. A page examines a limited number of the organization's stories
 * in the requested order. If few stories match a filter that has an index, the page sorts those instead.
 */
import {
  CursorId,
  CursorTime,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfSearchRows,
  type Part,
  sql,
} from '@muster/driver';
import { type ParamsOf, type ResultOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { activeProjectsVisibleTo, type Caller } from '@muster/runtime';
import { z } from 'zod';
import { type CardRow, selectWithCardColumns, toCard } from './story-cards.ts';
import { filterConditions, selectMatchesByRecord, selectSummaryColumns } from './story-lists.ts';
import { buildSearchPageQuery, maxSortedRowsSql } from './story-search.ts';

type SearchParams = ParamsOf<BoardRegistry['stories']['search']>;

/** A day in the form that Postgres accepts; it has no year 0. */
const CursorDay = z.iso.date().refine((day) => !day.startsWith('0000'));

const cursorSchemas = {
  updated: z.tuple([z.literal('updated'), CursorTime, CursorId]),
  created: z.tuple([z.literal('created'), CursorId]),
  dueDate: z.tuple([z.literal('dueDate'), CursorDay, CursorId]),
};

const cursorBySort = {
  updated: (row: CardRow) => ['updated', row.updated_at, row.id],
  created: (row: CardRow) => ['created', row.id],
  dueDate: (row: CardRow) => ['dueDate', row.due_date ?? '', row.id],
} satisfies Record<SearchParams['sort'], (row: CardRow) => string[]>;

/** Returns the order of stories with this name. */
const orderBySort = (story: Part): Record<SearchParams['sort'], Part> => ({
  updated: sql.part`${story}.updated_at desc, ${story}.id desc`,
  created: sql.part`${story}.id desc`,
  dueDate: sql.part`${story}.due_date, ${story}.id`,
});

/** Returns the conditions of the requested order: the story with this name has its value, and is after the cursor. */
function orderConditions({ sort, cursor: text }: SearchParams, story: Part): Part[] {
  switch (sort) {
    case 'updated': {
      const cursor = decodeCursor(text, cursorSchemas.updated);
      return cursor === undefined
        ? []
        : [sql.part`(${story}.updated_at, ${story}.id) < (${cursor[1]}::timestamptz, ${cursor[2]}::uuid)`];
    }
    case 'created': {
      const cursor = decodeCursor(text, cursorSchemas.created);
      return cursor === undefined ? [] : [sql.part`${story}.id < ${cursor[1]}::uuid`];
    }
    case 'dueDate': {
      const cursor = decodeCursor(text, cursorSchemas.dueDate);
      return cursor === undefined
        ? [sql.part`${story}.due_date is not null`]
        : [sql.part`(${story}.due_date, ${story}.id) > (${cursor[1]}::date, ${cursor[2]}::uuid)`];
    }
  }
}

/** Returns the condition that some story that story `q` waits for is not finished. */
const hasOpenBlockers = sql.part`exists (select from story_blockers b
  join stories o on ${orgFilter('o')} and o.id = b.blocker_id and o.status not in ('done', 'canceled')
  where ${orgFilter('b')} and b.story_id = q.id)`;

/** Returns the conditions that the story `q` is visible to the caller and matches the filters. */
function searchConditions(caller: Caller, params: SearchParams): Part[] {
  const where = [
    sql.part`q.project_id in (select v.project_id from ${activeProjectsVisibleTo(caller)} v)`,
    ...filterConditions(params),
  ];
  if (params.dueBefore !== undefined) where.push(sql.part`q.due_date < ${params.dueBefore}::date`);
  if (params.hasOpenBlockers === true) where.push(hasOpenBlockers);
  if (params.hasOpenBlockers === false) where.push(sql.part`not ${hasOpenBlockers}`);
  return where;
}

/** Returns, for each filter with an index, SQL for the IDs of all matching stories. */
function selectIndexedMatches(caller: Caller, params: SearchParams): Part[] {
  const { columnId, dueBefore, updatedSince } = params;
  const selectStories = (condition: Part) =>
    sql.part`select s.id from stories s where ${orgFilter('s')} and ${condition}`;
  const sets = [
    sql.part`select s.id from ${activeProjectsVisibleTo(caller)} v cross join lateral (
      ${selectStories(sql.part`s.project_id = v.project_id`)} limit ${maxSortedRowsSql} + 1) s`,
    ...selectMatchesByRecord(params),
  ];
  if (dueBefore !== undefined) sets.push(selectStories(sql.part`s.due_date < ${dueBefore}::date`));
  if (updatedSince !== undefined) sets.push(selectStories(sql.part`s.updated_at >= ${updatedSince}`));
  if (columnId !== undefined)
    sets.push(sql.part`select s.id from board_columns c
      join stories s on ${orgFilter('s')} and s.project_id = c.project_id and s.column_id = c.id
      where ${orgFilter('c')} and c.id = ${columnId}`);
  return sets;
}

/** Lists a page of the stories that the caller may see and that match the filters, in the requested order. */
export async function searchStories(
  db: Db,
  caller: Caller,
  params: SearchParams,
): Promise<ResultOf<BoardRegistry['stories']['search']>> {
  const { sort, limit } = params;
  const columns = selectSummaryColumns(sql.part`s.project_id`);
  const inOrder = (story: Part) => orderConditions(params, story);
  const order = orderBySort(sql.part`q`)[sort];
  const walkConditions = [orgFilter('s'), ...inOrder(sql.part`s`)];
  // In the order of updates, this condition lets the scan end early.
  if (sort === 'updated' && params.updatedSince !== undefined)
    walkConditions.push(sql.part`s.updated_at >= ${params.updatedSince}`);
  const page = buildSearchPageQuery({
    walk: sql.part`select ${columns} from stories s where ${sql.join(walkConditions, ' and ')}
      order by ${orderBySort(sql.part`s`)[sort]}`,
    candidateColumns: columns,
    candidateCondition: sql.part`${orgFilter('s')} and s.id = n.id`,
    indexedIdSets: selectIndexedMatches(caller, params),
    filterCondition: sql.join(searchConditions(caller, params), ' and '),
    cursorCondition: sql.join([sql.part`true`, ...inOrder(sql.part`q`)], ' and '),
    order,
    // A literal, because Postgres would assume that a parameter asks for a tenth of the stories.
    limit: sql.literal(limit + 1),
  });
  const rows = await db.all(sql<CardRow>`${selectWithCardColumns(page, order)}`);
  return pageOfSearchRows(rows, limit, cursorBySort[sort], toCard);
}
