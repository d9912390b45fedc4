/**
 * The assignments table: the member and the agent who work on a target. A target without either has no row.
 */
import {
  CursorId,
  type DB,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfSearchRows,
  type Part,
  type Query,
  searchPageSql,
  sql,
} from '@muster/driver';
import { type Assignment, type Subject, targetTypes } from '@muster/contract';
import { type Caller, activeProjectsVisibleTo } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { type CommentTarget } from './targets.ts';

type AssignmentRow = Omit<Selectable<DB['assignments']>, 'org_id'>;
type AssignmentWithNamesRow = AssignmentRow & {
  readonly member_name: string | null;
  readonly member_handle: string | null;
  readonly agent_name: string | null;
};
export type ListedAssignmentRow = AssignmentWithNamesRow & {
  readonly title: string;
  readonly key: string | null;
};

/** The assigned member and agent, with their names. */
export type Assignees = Pick<Assignment, 'member' | 'agent'>;
export type AssignmentState = Omit<
  Assignment,
  'targetType' | 'targetId' | 'targetKey' | 'targetTitle' | 'projectId'
>;

/** The assignment of a target without a member and without an agent. */
export const emptyAssignment: AssignmentState = {
  member: null,
  agent: null,
  assignedBy: null,
  createdAt: null,
  updatedAt: null,
};

const assignmentColumns = sql.part`a.target_type, a.target_id, a.project_id, a.member_id, a.agent_id, a.assigned_by, a.created_at, a.updated_at,
  m.name as member_name, m.handle as member_handle, g.name as agent_name`;
const assigneeJoins = sql.part`left join members m on ${orgFilter('m')} and m.id = a.member_id
  left join agents g on ${orgFilter('g')} and g.id = a.agent_id`;

const toAssignmentState = (row: AssignmentWithNamesRow): AssignmentState => ({
  member:
    row.member_id === null
      ? null
      : { id: row.member_id, name: row.member_name ?? '', handle: row.member_handle ?? '' },
  agent: row.agent_id === null ? null : { id: row.agent_id, name: row.agent_name ?? '' },
  assignedBy: row.assigned_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export const toListedAssignment = (row: ListedAssignmentRow): Assignment => ({
  targetType: row.target_type,
  targetId: row.target_id,
  targetKey: row.key,
  targetTitle: row.title,
  projectId: row.project_id,
  ...toAssignmentState(row),
});

const listedColumns = sql.part`${assignmentColumns}, coalesce(s.title, e.title, d.name) as title, p.key || '-' || s.number as key`;
/** The project and the target of assignments `a`, with the assignees. */
const listedJoins = sql.part`join projects p on ${orgFilter('p')} and p.id = a.project_id
  left join stories s on a.target_type = 'story' and ${orgFilter('s')} and s.id = a.target_id
  left join epics e on a.target_type = 'epic' and ${orgFilter('e')} and e.id = a.target_id
  left join delivery_groups d
    on a.target_type = 'delivery_group' and ${orgFilter('d')} and d.id = a.target_id
  ${assigneeJoins}`;

/** Returns SQL for assignments `a` that meet the condition, as an export reads them. */
export const archivedAssignmentSql = (condition: Part): Part =>
  sql.part`select ${listedColumns} from assignments a ${listedJoins} where ${orgFilter('a')} and ${condition}`;

/** Returns the API record of a locked target's assignment. */
export const toAssignment = (
  targetType: CommentTarget['targetType'],
  { id, key, title, projectId }: Subject,
  state: AssignmentState,
): Assignment => {
  if (projectId === null) throw new Error('an assigned record has no project');
  return { targetType, targetId: id, targetKey: key, targetTitle: title, projectId, ...state };
};

/** Locks the target's assignment if it has one. The caller locks the target first. */
export async function lockAssignment(db: Db, target: CommentTarget): Promise<AssignmentState> {
  const row = await db.find(
    sql<AssignmentWithNamesRow>`select ${assignmentColumns} from assignments a ${assigneeJoins}
       where ${orgFilter('a')} and a.target_type = ${target.targetType}
         and a.target_id = ${target.targetId}
       for no key update of a`,
  );
  return row === undefined ? emptyAssignment : toAssignmentState(row);
}

/** Writes the assignment of a locked target. */
export const setAssignment = (assignment: Assignment): Query<unknown> =>
  sql`insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id, assigned_by, created_at, updated_at)
     values (${currentOrgId}, ${assignment.targetType}, ${assignment.targetId}, ${assignment.projectId}, ${assignment.member?.id ?? null}, ${assignment.agent?.id ?? null}, ${assignment.assignedBy}, ${assignment.createdAt}, ${assignment.updatedAt})
     on conflict (org_id, target_type, target_id) do update
       set member_id = excluded.member_id, agent_id = excluded.agent_id,
         assigned_by = excluded.assigned_by, updated_at = excluded.updated_at`;

export const deleteAssignment = ({ targetType, targetId }: CommentTarget): Query<unknown> =>
  sql`delete from assignments where ${orgFilter()} and target_type = ${targetType} and target_id = ${targetId}`;

const Cursor = z.tuple([z.enum(targetTypes), CursorId]);

interface AssignmentPageParams {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * Lists assignments that match `where`, by kind and then the newest target first, as in the primary key.
 * `fits` is an additional filter on rows `q`. With it, a page examines a limited number of rows.
 */
async function listAssignments(
  db: Db,
  where: readonly Part[],
  page: AssignmentPageParams,
  rowFilters: readonly Part[] = [],
): Promise<{ items: Assignment[]; nextCursor: string | null }> {
  const after = decodeCursor(page.cursor, Cursor);
  const conditions = [orgFilter('a'), ...where];
  if (after !== undefined) {
    const [type, id] = after;
    conditions.push(sql.part`(a.target_type, a.target_id) < (${type}, ${id}::uuid)`);
  }
  const looked = searchPageSql(
    sql.part`select a.* from assignments a where ${sql.join(conditions, ' and ')} order by a.target_type desc, a.target_id desc`,
    rowFilters.length === 0 ? null : sql.join(rowFilters, ' and '),
    sql.part`q.target_type desc, q.target_id desc`,
    sql.literal(page.limit + 1),
  );
  const rows = await db.all(
    sql<ListedAssignmentRow>`select ${listedColumns}${rowFilters.length === 0 ? sql.empty : sql.part`, a.fits, a.nth`}
       from (${looked}) a ${listedJoins}
       order by a.target_type desc, a.target_id desc`,
  );
  return pageOfSearchRows(rows, page.limit, (row) => [row.target_type, row.target_id], toListedAssignment);
}

/** Finds the assignment of a story; null without one. */
export async function findStoryAssignment(db: Db, storyId: IdOrSql): Promise<Assignment | null> {
  const where = [sql.part`a.target_type = 'story'`, sql.part`a.target_id = ${storyId}`];
  return (await listAssignments(db, where, { limit: 1 })).items[0] ?? null;
}

export function listAssignmentsOfProject(db: Db, projectId: IdOrSql, page: AssignmentPageParams) {
  return listAssignments(db, [sql.part`a.project_id = ${projectId}`], page);
}

/** Lists assignments in the projects that the caller may see, optionally of one member or agent. */
export function listAssignmentsOfOrg(
  db: Db,
  caller: Caller,
  page: AssignmentPageParams & {
    readonly memberId?: string | undefined;
    readonly agentId?: string | undefined;
  },
) {
  const where: Part[] = [];
  if (page.memberId !== undefined) where.push(sql.part`a.member_id = ${page.memberId}::uuid`);
  if (page.agentId !== undefined) where.push(sql.part`a.agent_id = ${page.agentId}::uuid`);
  const fits = [sql.part`q.project_id in (select v.project_id from ${activeProjectsVisibleTo(caller)} v)`];
  return listAssignments(db, where, page, fits);
}
