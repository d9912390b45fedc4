/** The access_requests table: find, lock and write one request, and list those of a project. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type AccessRequest, type OrgRole, type ParamsOf, type ProjectRole } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

export const accessRequests = defineRecord('access_requests', 'r', {
  project_id: {},
  member_id: { hidden: true },
  role: {},
  message: { initial: null },
  state: { initial: 'pending' },
  resolved_by: { initial: null },
  resolved_at: { initial: null },
  note: { initial: null },
});
type RequestRow = RowOf<typeof accessRequests>;
/** A request with the name and handle of its member. */
export type AccessRequestRow = RequestRow & { readonly member_name: string; readonly member_handle: string };

const requestColumns = sql.part`${accessRequests.list}, m.name as member_name, m.handle as member_handle`;
const requestsWithMembers = sql.part`access_requests r join members m on ${orgFilter('m')} and m.id = r.member_id`;

export const toAccessRequest = (row: AccessRequestRow): AccessRequest => ({
  ...accessRequests.shown(row),
  member: { id: row.member_id, name: row.member_name, handle: row.member_handle },
});

/** The requesting member, with the rank of the member's current role in the project; null without a role. */
export interface Applicant {
  readonly name: string;
  readonly handle: string;
  readonly rank: number | null;
}

/** Reads the caller as the applicant for a project. */
export function getApplicant(db: Db, { memberId }: Caller, projectId: IdOrSql): Promise<Applicant> {
  return db.get(
    sql<Applicant>`select m.name, m.handle, app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank
       from projects p join members m on ${orgFilter('m')} and m.id = ${memberId}::uuid
       where ${orgFilter('p')} and p.id = ${projectId}`,
  );
}

/** Finds a member's pending request. */
export function findPendingRequest(
  db: Db,
  projectId: IdOrSql,
  memberId: string,
): Promise<AccessRequestRow | undefined> {
  return db.find(
    sql<AccessRequestRow>`select ${requestColumns} from ${requestsWithMembers}
       where ${orgFilter('r')} and r.project_id = ${projectId} and r.member_id = ${memberId}::uuid
         and r.state = 'pending'`,
  );
}

/** The period after a denial in which the same member cannot request access again. */
const cooldownAfterDenial = sql.part`interval '1 day'`;

/**
 * Returns the time from which the member may request access again. Returns undefined unless a recent denial
 * still prevents a new request.
 */
export async function findEarliestRetryTime(
  db: Db,
  projectId: IdOrSql,
  memberId: string,
): Promise<string | undefined> {
  const row = await db.find(
    sql<{ until: string }>`select max(r.resolved_at) + ${cooldownAfterDenial} as until from access_requests r
       where ${orgFilter('r')} and r.project_id = ${projectId} and r.member_id = ${memberId}::uuid
         and r.state = 'denied' and r.resolved_at > now() - ${cooldownAfterDenial}
       having max(r.resolved_at) is not null`,
  );
  return row?.until;
}

/** An access request to be decided, with the current roles of its member. */
export type LockedRequest = AccessRequestRow & {
  readonly member_role: OrgRole;
  /** The role given to the member in the project; null without one. */
  readonly given_role: ProjectRole | null;
};

/** Locks a request of a locked project, and its member against removal until this transaction ends. */
export function lockAccessRequest(db: Db, id: string): Promise<LockedRequest> {
  return db.get(
    sql<LockedRequest>`select ${requestColumns}, m.role as member_role,
         (select pm.role from project_members pm
           where ${orgFilter('pm')} and pm.project_id = r.project_id and pm.member_id = r.member_id) as given_role
       from ${requestsWithMembers}
       where ${orgFilter('r')} and r.id = ${id} and m.status = 'active' for no key update of r for share of m`,
  );
}

const Cursor = z.tuple([CursorId]);

/** Lists a page of a project's requests, newest first, without pending ones of inactive members. */
export async function listAccessRequests(
  db: Db,
  projectId: IdOrSql,
  { state, limit, cursor }: ParamsOf<BoardRegistry['projects']['accessRequests']['list']>,
): Promise<{ items: AccessRequest[]; nextCursor: string | null }> {
  const where = [
    orgFilter('r'),
    sql.part`r.project_id = ${projectId}`,
    sql.part`(r.state <> 'pending' or m.status = 'active')`,
  ];
  if (state !== undefined) where.push(sql.part`r.state = ${state}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`r.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<AccessRequestRow>`select ${requestColumns} from ${requestsWithMembers}
       where ${sql.join(where, ' and ')} order by r.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toAccessRequest);
}
