/** The projects table: find, lock and write one project, and list those that a member may see. */
import {
  CursorText,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfSearchRows,
  type Query,
  defineRecord,
  type RowOf,
  searchPageSql,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type ParamsOf, type Project, projectRoles, type Subject, subjectOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { containsPattern } from '@muster/tenancy';
import { z } from 'zod';

const publicProjectColumns = {
  key: {},
  name: { set: true },
  description: { set: true, emptyValue: '' },
  visibility: { set: true, initial: 'org' },
  repository: { set: true, emptyValue: null },
  origin: {},
  archived_at: { set: true, emptyValue: null },
} as const;
export const projects = defineRecord('projects', 'p', publicProjectColumns);
export type ProjectRow = RowOf<typeof projects>;

/** A project with the local board it was converted from and the answer for a repeated conversion. */
export const convertedProjects = defineRecord('projects', 'p', {
  ...publicProjectColumns,
  local_project_id: {},
  conversion: {},
});

/** Returns the project as an API record for a member whose role has this rank. */
export function toProject(row: ProjectRow, rank: number | null): Project {
  const myRole = projectRoles[(rank ?? 0) - 1];
  if (myRole === undefined) throw new Error('a member who sees a project has no role in it');
  return { ...projects.shown(row), myRole };
}

/** Returns the project as an event subject. */
export const toProjectEventSubject = (project: Pick<ProjectRow, 'id' | 'key' | 'name'>): Subject =>
  subjectOf('project', { id: project.id, project_id: project.id }, project.name, project.key);

/**
 * Waits for running writes into the project and blocks new ones, by an advisory lock. Send it before any row
 * lock, as writers do.
 */
export const blockProjectWrites = (): Query<unknown> =>
  sql`select pg_advisory_xact_lock(app.bar_of(app.project_id()))`;

/** Locks the project of an access request. */
export function lockProjectOfRequest(db: Db, accessRequestId: string): Promise<ProjectRow> {
  return db.get(
    sql<ProjectRow>`select ${projects.list} from projects p where ${orgFilter('p')}
         and p.id = (select r.project_id from access_requests r where ${orgFilter('r')} and r.id = ${accessRequestId}) for no key update`,
  );
}

/**
 * Reads a project if the caller may see it. Operations of the organization need this, because their
 * authorization check ignores projects.
 */
export function getVisibleProject(db: Db, caller: Caller, id: IdOrSql): Promise<ProjectRow> {
  return db.get(
    sql<ProjectRow>`select ${projects.list} from projects p
       join ${projectsVisibleTo(caller)} v on v.project_id = p.id
       where ${orgFilter('p')} and p.id = ${id}`,
  );
}

export type ConvertedProjectRow = RowOf<typeof convertedProjects> & {
  /** Null if the caller may not see the project. */
  readonly rank: number | null;
};

/** Serializes conversions of one local board until the transaction ends. */
export const lockLocalBoard = (localProjectId: string): Query<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended('local board ' || ${currentOrgId}::text || ' ' || ${localProjectId}::text, 0))`;

/** Finds the project that a local board was converted into. */
export async function findConvertedProject(
  db: Db,
  caller: Caller,
  localProjectId: string,
): Promise<ConvertedProjectRow | undefined> {
  return db.find(
    sql<ConvertedProjectRow>`select ${convertedProjects.list}, v.project_rank as rank from projects p
       left join ${projectsVisibleTo(caller)} v on v.project_id = p.id
       where ${orgFilter('p')} and p.local_project_id = ${localProjectId}`,
  );
}

const Cursor = z.tuple([CursorText]);

/** Lists a page of the projects that the caller may see, by key. */
export async function listProjects(
  db: Db,
  caller: Caller,
  { includeArchived, query: text, limit, cursor }: ParamsOf<BoardRegistry['projects']['list']>,
): Promise<{ items: Project[]; nextCursor: string | null }> {
  const where = [orgFilter('p')];
  if (!includeArchived) where.push(sql.part`p.archived_at is null`);
  const pattern = text === undefined ? null : sql.part`${containsPattern(text)}`;
  const fits = pattern === null ? null : sql.part`q.name ilike ${pattern} or q.key ilike ${pattern}`;
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`p.key > ${after[0]}`);
  const visible = sql.part`select ${projects.list}, v.project_rank as rank from projects p
    join ${projectsVisibleTo(caller)} v on v.project_id = p.id
    where ${sql.join(where, ' and ')} order by p.key`;
  const page = searchPageSql(visible, fits, sql.part`q.key`, sql.part`${limit + 1}`);
  const rows = await db.all(
    sql<
      ProjectRow & { rank: number }
    >`${limitToPageBytes(page, sql.part`octet_length(q.description)`, sql.part`q.key`)}`,
  );
  return pageOfSearchRows(
    rows,
    limit,
    (row) => [row.key],
    (row) => toProject(row, row.rank),
  );
}

/** Makes a member the lead of a new project. */
export const insertLead = (project: ProjectRow, memberId: string): Query<unknown> =>
  sql`insert into project_members (org_id, project_id, member_id, role, created_at) values (${currentOrgId}, ${project.id}, ${memberId}, 'lead', ${project.created_at})`;

/**
 * Marks a project as deleted for every member, with all of its content. The worker deletes the rows later.
 * Without the counters, new stories and locks are impossible: a call that waits for a deleted counter finds
 * no row after the wait.
 */
export const deleteProject = (projectId: string): Query<unknown>[] => [
  sql`select set_config('muster.deleting', ${projectId}, true)`,
  sql`update projects set deleted_at = now(), key = id::text, local_project_id = null where ${orgFilter()} and id = ${projectId}`,
  sql`delete from project_counters where ${orgFilter()} and project_id = ${projectId}`,
  sql`delete from lock_counters where ${orgFilter()} and project_id = ${projectId}`,
];
