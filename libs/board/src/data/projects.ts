/** The projects table: one project, found, locked, written; and the list of those that a member may see. */
import {
  containing,
  type DB,
  type Db,
  decodeCursor,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import {
  type ParamsOf,
  type Project,
  ProjectKey,
  projectRoles,
  type Registry,
  type Subject,
} from '@muster/registry';
import { type Caller, notFound, visibleProjects } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type WholeRow = Omit<Selectable<DB['projects']>, 'org_id'>;
export type ProjectRow = Omit<WholeRow, 'local_project_id' | 'conversion'>;

const projectColumns =
  'p.id, p.key, p.name, p.description, p.visibility, p.repository, p.origin, p.archived_at, p.created_at, p.updated_at, p.version';

/** The project as somebody sees it whose role there has this rank. */
export function toProject(row: ProjectRow, rank: number | null): Project {
  const myRole = projectRoles[(rank ?? 0) - 1];
  if (myRole === undefined) throw new Error('who sees a project has a role in it');
  return {
    id: row.id,
    key: row.key,
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    repository: row.repository,
    origin: row.origin,
    archivedAt: row.archived_at,
    myRole,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

/** The project as the subject of what happened to it. */
export const aboutProject = (project: Pick<ProjectRow, 'id' | 'key' | 'name'>): Subject => ({
  type: 'project',
  id: project.id,
  key: project.key,
  title: project.name,
  projectId: project.id,
});

async function readProject(db: Db, orgId: string, ref: string, lock: string): Promise<ProjectRow> {
  const values = new Values(orgId);
  const row = await db.find(
    sqlQuery<ProjectRow>(
      `select ${projectColumns} from projects p where p.org_id = ${values.org} and p.id = ${values.projectId(ref)} ${lock}`,
      values.list,
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** A project that the door let the caller see. */
export const getProject = (db: Db, orgId: string, ref: string): Promise<ProjectRow> =>
  readProject(db, orgId, ref, '');

export const lockProject = (db: Db, orgId: string, ref: string): Promise<ProjectRow> =>
  readProject(db, orgId, ref, 'for no key update');

/** Locks the project that a request for access is for. */
export async function lockProjectOfRequest(
  db: Db,
  orgId: string,
  accessRequestId: string,
): Promise<ProjectRow> {
  const row = await db.find(
    sqlQuery<ProjectRow>(
      `select ${projectColumns} from projects p where p.org_id = $1
         and p.id = (select r.project_id from access_requests r where r.org_id = $1 and r.id = $2) for no key update`,
      [orgId, accessRequestId],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** Locks a project that the caller asks for, whether or not they may see it: a token bound elsewhere may not ask. */
export async function lockAskedProject(db: Db, caller: Caller, ref: string): Promise<ProjectRow> {
  const values = new Values(caller.orgId);
  const row = await db.find(
    sqlQuery<ProjectRow>(
      `select ${projectColumns} from projects p
       join tokens t on t.org_id = p.org_id and t.id = ${values.uuid(caller.tokenId)}
       where p.org_id = ${values.org} and p.id = ${values.projectId(ref)}
         and (t.project_ids is null or p.id = any (t.project_ids)) for no key update of p`,
      values.list,
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** A project if the caller may see it, for operations of the organization, where the door does not look. */
export async function getVisibleProject(db: Db, caller: Caller, ref: string): Promise<ProjectRow> {
  const values = new Values(caller.orgId);
  const row = await db.find(
    sqlQuery<ProjectRow>(
      `select ${projectColumns} from projects p
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where p.org_id = ${values.org} and p.id = ${values.projectId(ref)}`,
      values.list,
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

export type Converted = WholeRow & {
  /** Null: the caller may not see it. */
  readonly rank: number | null;
};

/** The project that a local board was converted into, if it was. */
export async function findConverted(
  db: Db,
  caller: Caller,
  localProjectId: string,
): Promise<Converted | undefined> {
  const values = new Values(caller.orgId);
  return db.find(
    sqlQuery<Converted>(
      `select ${projectColumns}, p.local_project_id, p.conversion, v.project_rank as rank from projects p
       left join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where p.org_id = ${values.org} and p.local_project_id = ${values.$(localProjectId)}`,
      values.list,
    ),
  );
}

const Cursor = z.tuple([ProjectKey]);

/** A page of the projects that the caller may see, by key. */
export async function listProjects(
  db: Db,
  caller: Caller,
  { includeArchived, query: text, limit, cursor }: ParamsOf<Registry['projects']['list']>,
): Promise<{ items: Project[]; nextCursor: string | null }> {
  const values = new Values(caller.orgId);
  const where = [`p.org_id = ${values.org}`];
  if (!includeArchived) where.push('p.archived_at is null');
  if (text !== undefined) {
    const pattern = values.$(containing(text));
    where.push(`(p.name ilike ${pattern} or p.key ilike ${pattern})`);
  }
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`p.key > ${values.$(after[0])}`);
  const rows = await db.all(
    sqlQuery<ProjectRow & { rank: number }>(
      `select ${projectColumns}, v.project_rank as rank from projects p
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where ${where.join(' and ')} order by p.key limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.key],
    (row) => toProject(row, row.rank),
  );
}

const updateProject = statement((param: Param<ProjectRow & { org_id: string }>) =>
  query
    .updateTable('projects')
    .set({
      name: param('name'),
      description: param('description'),
      visibility: param('visibility'),
      repository: param('repository'),
      archived_at: param('archived_at'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes a locked project as it is now. */
export const setProject = (orgId: string, project: ProjectRow): Query<unknown> =>
  updateProject({ ...project, org_id: orgId });

export const insertProject = (orgId: string, project: WholeRow): Query<unknown> =>
  query.insertInto('projects').values({ ...project, org_id: orgId });

/** Makes a member the lead of a new project. */
export const insertLead = (orgId: string, project: ProjectRow, memberId: string): Query<unknown> =>
  query.insertInto('project_members').values({
    org_id: orgId,
    project_id: project.id,
    member_id: memberId,
    role: 'lead',
    created_at: project.created_at,
  });

/** Removes the project; all that hangs on it goes by cascade. Its stories go first: see deleteStoriesOf. */
export const deleteProject = (orgId: string, projectId: string): Query<unknown> =>
  query.deleteFrom('projects').where('org_id', '=', orgId).where('id', '=', projectId);
