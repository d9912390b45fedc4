import {
  type Db,
  type DB,
  newId,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
} from '@muster/database';
import { type Member, notFound, type OrgRole, type Subject, unauthorized } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { handleFor, uniqueHandle } from '../rules/handles.ts';

export type MemberRow = Omit<Selectable<DB['members']>, 'org_id'>;

export const memberColumns = [
  'id',
  'email',
  'name',
  'handle',
  'role',
  'status',
  'created_at',
  'updated_at',
  'version',
] as const;

export const toMember = (row: MemberRow): Member => ({
  id: row.id,
  email: row.email,
  name: row.name,
  handle: row.handle,
  role: row.role,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const memberById = statement((param: Param<{ orgId: string; memberId: string }>) =>
  query
    .selectFrom('members')
    .select(memberColumns)
    .where('org_id', '=', param('orgId'))
    .where('id', '=', param('memberId')),
);

export async function getMember(db: Db, orgId: string, memberId: string): Promise<Member> {
  const row = await db.find(memberById({ orgId, memberId }));
  if (row === undefined) throw notFound();
  return toMember(row);
}

/** The member as the subject of what happened to them. */
export const aboutMember = (member: Pick<MemberRow, 'id' | 'handle' | 'name'>): Subject => ({
  type: 'member',
  id: member.id,
  key: member.handle,
  title: member.name,
  projectId: null,
});

/**
 * Locks active members, in the order of their ids, against whoever else changes or removes them; by id. Who was
 * removed is not among them.
 */
export async function lockMembers(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MemberRow>> {
  const rows = await db.all(
    query
      .selectFrom('members')
      .select(memberColumns)
      .where('org_id', '=', orgId)
      .where('id', 'in', [...new Set(ids)])
      .where('status', '=', 'active')
      .orderBy('id')
      .forNoKeyUpdate(),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export async function lockMember(db: Db, orgId: string, memberId: string): Promise<MemberRow> {
  const member = (await lockMembers(db, orgId, [memberId])).get(memberId);
  if (member === undefined) throw notFound();
  return member;
}

/** Locks the caller's own membership: who was removed while waiting for it is not let in any more. */
export async function lockSelf(db: Db, { orgId, memberId }: Caller): Promise<MemberRow> {
  const member = (await lockMembers(db, orgId, [memberId])).get(memberId);
  if (member === undefined) throw unauthorized();
  return member;
}

/** The row after the changes: the next version, changed `at`. */
export const changedMember = (
  member: MemberRow,
  changes: Partial<Pick<MemberRow, 'role' | 'status'>>,
  at: string,
): MemberRow => ({ ...member, ...changes, updated_at: at, version: member.version + 1 });

const update = statement((param: Param<MemberRow & { org_id: string }>) =>
  query
    .updateTable('members')
    .set({
      role: param('role'),
      status: param('status'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes what can change of a locked member. */
export const setMember = (orgId: string, member: MemberRow): Query<unknown> =>
  update({ ...member, org_id: orgId });

/** Ends what a locked member and their agents hold; app.release_member says what that is. */
export const releaseMember = (orgId: string, memberId: string): Query<unknown> =>
  sqlQuery('select app.release_member($1, $2)', [orgId, memberId]);

/** Whether an active member has this address, in any case. */
export async function isMemberAddress(db: Db, orgId: string, email: string): Promise<boolean> {
  const found = await db.find(
    sqlQuery(`select id from members where org_id = $1 and lower(email) = lower($2) and status = 'active'`, [
      orgId,
      email,
    ]),
  );
  return found !== undefined;
}

interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: OrgRole;
}

/** Writes a new member under a handle of their own. Whoever adds members to an organization takes turns. */
export async function setNewMember(db: Db, orgId: string, { email, name, role }: NewMember): Promise<Member> {
  const wanted = handleFor(name, email);
  const taken = await db.all(
    sqlQuery<{ handle: string }>(`select handle from members where org_id = $1 and starts_with(handle, $2)`, [
      orgId,
      wanted,
    ]),
  );
  const handle = uniqueHandle(wanted, new Set(taken.map((row) => row.handle)));
  return toMember(
    await db.one(
      query
        .insertInto('members')
        .values({ org_id: orgId, id: newId(), email, name, handle, role, status: 'active' })
        .returning(memberColumns),
    ),
  );
}
