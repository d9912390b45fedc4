/** Saved views: the caller's own, and the shared ones of projects that the caller may see. */
import {
  CursorId,
  type Db,
  decodeCursor,
  defineRecord,
  orgFilter,
  type Page,
  pageOfRows,
  type Part,
  requireVersion,
  type RowOf,
  sql,
} from '@muster/driver';
import { type MemberRef, type ParamsOf, type View, type ViewFilter } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller, forbidden, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql, storyIdSql } from '@muster/tenancy';
import { z } from 'zod';

export const maxViewsOfMember = 200;

export const views = defineRecord('views', 'w', {
  owner_id: { hidden: true },
  project_id: {},
  name: { set: true },
  layout: { set: true },
  filter: { set: true },
  group_by: { set: true, emptyValue: null },
  sort: { set: true },
  columns: { set: true },
  shared: { set: true },
});
export type ViewRow = RowOf<typeof views>;
export type OwnedViewRow = ViewRow & { readonly owner: MemberRef };
/** A view with the rank of the caller's role in its project, which is null if it has none. */
type ManagedViewRow = OwnedViewRow & { readonly rank: number | null; readonly archived: boolean };

export const toView = ({ owner, ...row }: OwnedViewRow): View => ({ ...views.shown(row), owner });

const ownerSql = sql.part`(select jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) from members m
  where ${orgFilter('m')} and m.id = w.owner_id)`;

/** Returns SQL for views `w` that meet the condition, as an export reads them. */
export const archivedViewSql = (condition: Part): Part =>
  sql.part`select ${views.list}, ${ownerSql} as owner from views w where ${orgFilter('w')} and ${condition}`;

/** The condition that the caller may see the view `w` and its project `v`. */
const visibleCondition = ({ memberId }: Caller): Part =>
  sql.part`(w.shared or w.owner_id = ${memberId}::uuid) and (w.project_id is null or v.project_id is not null)`;

/** Locks a view that the caller may see. Throws 404 for any other, and 409 if another version is expected. */
export async function lockView(
  db: Db,
  caller: Caller,
  id: string,
  expectedVersion?: number,
): Promise<ManagedViewRow> {
  const row = await db.get(
    sql<ManagedViewRow>`select ${views.list}, ${ownerSql} as owner, v.project_rank as rank,
      coalesce((select p.archived_at is not null from projects p where ${orgFilter('p')} and p.id = w.project_id), false) as archived
      from views w left join ${projectsVisibleTo(caller)} v on v.project_id = w.project_id
      where ${orgFilter('w')} and w.id = ${id}::uuid and ${visibleCondition(caller)} for no key update of w`,
  );
  requireVersion(row, expectedVersion);
  return row;
}

/** Throws 403 if a view is shared with the whole organization and the token is bound to projects. */
export function requireWithinToken(
  { projectIds }: Caller,
  { projectId, shared }: { readonly projectId: string | null; readonly shared: boolean },
): void {
  if (projectIds !== null && projectId === null && shared) throw forbidden('bound_token');
}

/** Reads the caller as the owner of a new view, and the number of views that the caller has. */
export const getOwner = (db: Db, { memberId }: Caller): Promise<{ owner: MemberRef; count: number }> =>
  db.get(
    sql<{ owner: MemberRef; count: number }>`select
        jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as owner,
        (select count(*)::int from views w where ${orgFilter('w')} and w.owner_id = m.id) as count
      from members m where ${orgFilter('m')} and m.id = ${memberId}::uuid`,
  );

/** Throws 404 unless the caller may see the records that the filter names. */
export async function requireFilterRecords(
  db: Db,
  caller: Caller,
  { columnId, epicId, parentId }: ViewFilter,
): Promise<void> {
  const isVisible = (table: string, id: Part | string) => sql.part`exists (select from ${sql.word(table)} t
    join ${projectsVisibleTo(caller)} v on v.project_id = t.project_id where ${orgFilter('t')} and t.id = ${id}::uuid)`;
  const named: Record<string, Part> = {};
  if (columnId !== undefined) named['columnId'] = isVisible('board_columns', columnId);
  if (epicId !== undefined) named['epicId'] = isVisible('epics', epicId);
  if (parentId !== undefined) named['parentId'] = isVisible('stories', storyIdSql(parentId));
  const found = await Promise.all(
    Object.values(named).map((condition) => db.one(sql<{ found: boolean }>`select ${condition} as found`)),
  );
  const missing = Object.keys(named).find((_name, index) => found[index]?.found !== true);
  if (missing !== undefined) throw pathNotFound(`filter.${missing}`);
}

/** Returns the number of views of each of these members that has any. */
export const countViews = async (db: Db, memberIds: readonly string[]): Promise<Map<string, number>> => {
  const rows = await db.all(
    sql<{ owner_id: string; count: number }>`select w.owner_id, count(*)::int as count from views w
       where ${orgFilter('w')} and w.owner_id = any (${memberIds}::uuid[]) group by w.owner_id`,
  );
  return new Map(rows.map(({ owner_id: id, count }) => [id, count]));
};

export const deleteView = (id: string) => sql`delete from views where ${orgFilter()} and id = ${id}`;

const Cursor = z.tuple([CursorId]);

/** Lists the views that the caller may see, oldest first. */
export async function listViews(
  db: Db,
  caller: Caller,
  { projectId, limit, cursor }: ParamsOf<BoardRegistry['views']['list']>,
): Promise<Page<View>> {
  const where = [orgFilter('w'), visibleCondition(caller)];
  if (projectId !== undefined) where.push(sql.part`w.project_id = ${projectIdSql(projectId)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`w.id > ${after[0]}::uuid`);
  const rows = await db.all(
    sql<OwnedViewRow>`select ${views.list}, ${ownerSql} as owner
      from views w left join ${projectsVisibleTo(caller)} v on v.project_id = w.project_id
      where ${sql.join(where, ' and ')} order by w.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toView);
}
