/**
 * Pages of a project's stories. Hand-written for the board's order, which is by column and then by rank: a page
 * reads its own rows and no others, wherever it begins and however long the board.
 */
import { containing, type Db, decodeCursor, pageOfRows, sqlQuery, Values } from '@muster/database';
import {
  isCleanText,
  isUuid,
  type ParamsOf,
  type Registry,
  type StoryStatus,
  type StorySummary,
} from '@muster/registry';
import { z } from 'zod';
import { type StorySummaryRow, summaryColumns, toStorySummary } from './stories.ts';

type ListParams = ParamsOf<Registry['stories']['list']>;

/** What pages are cut from: the organization, the project, and the conditions on a story `s`. */
interface Source {
  readonly org: string;
  readonly project: string;
  readonly where: readonly string[];
}

type BoardRow = StorySummaryRow & { readonly position: number };

/** Canceled stories come after any column. */
const afterAllColumns = 2_147_483_647;

const Uuid = z.string().refine(isUuid);
const cursors = {
  /** The last row's column, by position and id ('' for the canceled ones), and its rank. */
  board: z.tuple([
    z.literal('board'),
    z.int().min(0).max(afterAllColumns),
    Uuid.or(z.literal('')),
    z.string().refine(isCleanText),
  ]),
  updated: z.tuple([z.literal('updated'), z.iso.datetime({ precision: 3 }), Uuid]),
  created: z.tuple([z.literal('created'), Uuid]),
};

const columns = summaryColumns.join(', ');

const keyOfProject = (org: string, project: string): string =>
  `(select k.key from projects k where k.org_id = ${org} and k.id = ${project})`;

const shown = (source: Source): string =>
  `${columns}, ${keyOfProject(source.org, source.project)} as project_key`;

const stories = ({ org, project, where }: Source, ...more: string[]): string =>
  `from stories s where ${[`s.org_id = ${org}`, `s.project_id = ${project}`, ...where, ...more].join(' and ')}`;

const statusesOf = ({ status }: ListParams): readonly StoryStatus[] | undefined =>
  typeof status === 'string' ? [status] : status;

/** The filters that go by the story itself; in the board's order, status and column choose lanes instead. */
function filters(values: Values, params: ListParams, key: () => string): string[] {
  const where: string[] = [];
  const assigned = (column: string, id: string) =>
    where.push(`exists (select from assignments a where a.org_id = ${values.org} and a.target_type = 'story'
      and a.target_id = s.id and a.${column} = ${values.$(id)})`);
  if (params.epicId !== undefined) where.push(`s.epic_id = ${values.$(params.epicId)}`);
  if (params.label !== undefined) where.push(`s.labels @> ${values.$([params.label])}::text[]`);
  if (params.updatedSince !== undefined) where.push(`s.updated_at >= ${values.$(params.updatedSince)}`);
  if (params.assigneeId !== undefined) assigned('member_id', params.assigneeId);
  if (params.agentId !== undefined) assigned('agent_id', params.agentId);
  if (params.query !== undefined) {
    const pattern = values.$(containing(params.query));
    where.push(`(s.title ilike ${pattern} or (${key()} || '-' || s.number) ilike ${pattern})`);
  }
  return where;
}

/**
 * The board: `lanes` are the columns from the cursor's on, each with the room that the lanes before it leave on the
 * page. Columns know how many stories they have; of the cursor's own, those that are left are counted, as far as
 * the page goes. A filter leaves any number of them, so then each lane may have the whole page.
 */
function boardPage(values: Values, source: Source, params: ListParams, limit: string): string {
  const { org, project } = source;
  const cursor = decodeCursor(params.cursor, cursors.board);
  const statuses = statusesOf(params);
  const filtered = source.where.length > 0;
  const lanesWhere = [`c.org_id = ${org}`, `c.project_id = ${project}`];
  if (params.columnId !== undefined) lanesWhere.push(`c.id = ${values.$(params.columnId)}`);
  if (statuses !== undefined) lanesWhere.push(`c.status = any (${values.$(statuses)}::text[])`);
  let after = `''`;
  let count = 'c.story_count';
  if (cursor !== undefined) {
    const [, position, column, rank] = cursor;
    const rankAfter = column === '' ? `''` : values.$(rank);
    const at = values.$(column === '' ? null : column);
    lanesWhere.push(`(c.position, c.id) >= (${values.$(position)}::int, ${at}::uuid)`);
    after = `case when c.id = ${at} then ${rankAfter} else '' end`;
    const left = `select from stories n where n.org_id = ${org} and n.project_id = ${project}
      and n.column_id = c.id and n.rank > ${rankAfter} limit ${limit}`;
    count = `case when c.id = ${at} then (select count(*) from (${left}) n) else c.story_count end`;
  }
  const lanes = `
    select c.id, c.position, ${after} as after, ${filtered ? '0' : count} as stories
    from board_columns c where ${lanesWhere.join(' and ')}`;
  const parts = [
    `select l.position, s.* from lanes l cross join lateral (
       select ${columns} ${stories(source, 's.column_id = l.id', 's.rank > l.after')} order by s.rank limit l.room) s
     where l.room > 0`,
  ];
  if (params.columnId === undefined && (statuses === undefined || statuses.includes('canceled'))) {
    const canceledAfter = cursor?.[2] === '' ? values.$(cursor[3]) : `''`;
    parts.push(`(select ${afterAllColumns}, ${columns}
      ${stories(source, 's.column_id is null', `s.rank > ${canceledAfter}`)} order by s.column_id, s.rank
      limit greatest((select ${limit} - coalesce(sum(l.stories), 0) from lanes l), 0))`);
  }
  return `
    with counted as materialized (${lanes}),
    lanes as materialized (
      select c.id, c.position, c.after, c.stories, ${limit} - coalesce(sum(c.stories)
        over (order by c.position, c.id rows between unbounded preceding and 1 preceding), 0) as room from counted c)
    select s.position, ${shown(source)} from (${parts.join(' union all ')}) s
    order by s.position, s.column_id, s.rank limit ${limit}`;
}

function timePage(values: Values, source: Source, params: ListParams, limit: string): string {
  const where: string[] = [];
  const statuses = statusesOf(params);
  if (params.columnId !== undefined) where.push(`s.column_id = ${values.$(params.columnId)}`);
  if (statuses !== undefined) where.push(`s.status = any (${values.$(statuses)}::text[])`);
  const page = (order: string) =>
    `select ${shown(source)} ${stories(source, ...where)} order by ${order} limit ${limit}`;
  if (params.sort === 'created') {
    const cursor = decodeCursor(params.cursor, cursors.created);
    if (cursor !== undefined) where.push(`s.id < ${values.$(cursor[1])}`);
    return page('s.id desc');
  }
  const cursor = decodeCursor(params.cursor, cursors.updated);
  if (cursor !== undefined)
    where.push(`(s.updated_at, s.id) < (${values.$(cursor[1])}::timestamptz, ${values.$(cursor[2])}::uuid)`);
  return page('s.updated_at desc, s.id desc');
}

const cursorOf = {
  board: (row: BoardRow) => ['board', row.position, row.column_id ?? '', row.rank],
  updated: (row: BoardRow) => ['updated', row.updated_at, row.id],
  created: (row: BoardRow) => ['created', row.id],
} satisfies Record<ListParams['sort'], (row: BoardRow) => (string | number)[]>;

/** A page of the stories of a project that pass the filters, in the order asked for. */
export async function listStories(
  db: Db,
  orgId: string,
  params: ListParams,
): Promise<{ items: StorySummary[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const project = values.projectId(params.projectId);
  // Written out: of a limit that is a parameter Postgres expects a tenth of the project, and plans for that.
  const limit = String(params.limit + 1);
  const where = filters(values, params, () => keyOfProject(values.org, project));
  const source: Source = { org: values.org, project, where };
  const text =
    params.sort === 'board'
      ? boardPage(values, source, params, limit)
      : timePage(values, source, params, limit);
  const rows = await db.all(sqlQuery<BoardRow>(text, values.list));
  return pageOfRows(rows, params.limit, cursorOf[params.sort], toStorySummary);
}
