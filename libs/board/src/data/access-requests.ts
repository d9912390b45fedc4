/** The access_requests table: one request, found, locked, written; and the list of a project's. */
import {
  type DB,
  type Db,
  decodeCursor,
  pageOfRows,
  type Query,
  query,
  sqlQuery,
  Values,
} from '@muster/database';
import {
  type AccessRequest,
  isUuid,
  type OrgRole,
  type ParamsOf,
  type ProjectRole,
  type Registry,
} from '@muster/registry';
import { type Caller, notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type RequestRow = Omit<Selectable<DB['access_requests']>, 'org_id'>;
/** A request with what is shown of who made it. */
export type AccessRequestRow = RequestRow & { readonly member_name: string; readonly member_handle: string };

const requestColumns = `r.id, r.project_id, r.member_id, r.role, r.message, r.state, r.resolved_by, r.resolved_at, r.note,
  r.created_at, r.updated_at, r.version, m.name as member_name, m.handle as member_handle`;
const requests = 'access_requests r join members m on m.org_id = r.org_id and m.id = r.member_id';

export const toAccessRequest = (row: AccessRequestRow): AccessRequest => ({
  id: row.id,
  projectId: row.project_id,
  member: { id: row.member_id, name: row.member_name, handle: row.member_handle },
  role: row.role,
  message: row.message,
  state: row.state,
  resolvedBy: row.resolved_by,
  resolvedAt: row.resolved_at,
  note: row.note,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** Who asks, and the rank of the role they have in the project that they ask for; null: none. */
export interface Applicant {
  readonly name: string;
  readonly handle: string;
  readonly rank: number | null;
}

/** The caller, before the project that they ask for. */
export async function getApplicant(
  db: Db,
  { orgId, memberId }: Caller,
  projectRef: string,
): Promise<Applicant> {
  const values = new Values(orgId);
  const applicant = await db.find(
    sqlQuery<Applicant>(
      `select m.name, m.handle, app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank
       from projects p join members m on m.org_id = p.org_id and m.id = ${values.uuid(memberId)}
       where p.org_id = ${values.org} and p.id = ${values.projectId(projectRef)}`,
      values.list,
    ),
  );
  if (applicant === undefined) throw notFound();
  return applicant;
}

/** The request of a member that waits for an answer. */
export function findPending(
  db: Db,
  orgId: string,
  projectRef: string,
  memberId: string,
): Promise<AccessRequestRow | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<AccessRequestRow>(
      `select ${requestColumns} from ${requests}
       where r.org_id = ${values.org} and r.project_id = ${values.projectId(projectRef)} and r.member_id = ${values.uuid(memberId)}
         and r.state = 'pending'`,
      values.list,
    ),
  );
}

/** What is decided on: a request, and what its member is and has today. */
export type LockedRequest = AccessRequestRow & {
  readonly member_role: OrgRole;
  /** The role that the member was given in the project. */
  readonly given_role: ProjectRole | null;
};

/** A request of a locked project, whose member stays one until this transaction ends. */
export async function lockAccessRequest(db: Db, orgId: string, id: string): Promise<LockedRequest> {
  const row = await db.find(
    sqlQuery<LockedRequest>(
      `select ${requestColumns}, m.role as member_role,
         (select pm.role from project_members pm
           where pm.org_id = r.org_id and pm.project_id = r.project_id and pm.member_id = r.member_id) as given_role
       from ${requests}
       where r.org_id = $1 and r.id = $2 and m.status = 'active' for no key update of r for share of m`,
      [orgId, id],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

const Cursor = z.tuple([z.string().refine(isUuid)]);

/** A page of the requests for a project, newest first. What a member asked who is none any more waits for nobody. */
export async function listAccessRequests(
  db: Db,
  orgId: string,
  { projectId, state, limit, cursor }: ParamsOf<Registry['projects']['accessRequests']['list']>,
): Promise<{ items: AccessRequest[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [
    `r.org_id = ${values.org}`,
    `r.project_id = ${values.projectId(projectId)}`,
    `(r.state <> 'pending' or m.status = 'active')`,
  ];
  if (state !== undefined) where.push(`r.state = ${values.$(state)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`r.id < ${values.uuid(after[0])}`);
  const rows = await db.all(
    sqlQuery<AccessRequestRow>(
      `select ${requestColumns} from ${requests}
       where ${where.join(' and ')} order by r.id desc limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.id], toAccessRequest);
}

export const insertAccessRequest = (
  orgId: string,
  { member_name: _name, member_handle: _handle, ...row }: AccessRequestRow,
): Query<unknown> => query.insertInto('access_requests').values({ ...row, org_id: orgId });

/** Writes what was decided about a locked request. */
export const setAccessRequest = (orgId: string, row: RequestRow): Query<unknown> =>
  query
    .updateTable('access_requests')
    .set({
      role: row.role,
      state: row.state,
      resolved_by: row.resolved_by,
      resolved_at: row.resolved_at,
      note: row.note,
      updated_at: row.updated_at,
      version: row.version,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', row.id);
