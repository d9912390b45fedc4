import { type Db, type DB, newId, of, organization, type Query, sql } from '@muster/database';
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

export async function getMember(db: Db, memberId: string): Promise<Member> {
  return toMember(
    await db.get(
      sql<MemberRow>`select ${sql.columns(memberColumns)} from members where ${of()} and id = ${memberId}`,
    ),
  );
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
export async function lockMembers(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, MemberRow>> {
  const rows = await db.all(
    sql<MemberRow>`select ${sql.columns(memberColumns)} from members where ${of()} and id = any (${[...new Set(ids)]}) and status = 'active' order by id for no key update`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export async function lockMember(db: Db, memberId: string): Promise<MemberRow> {
  const member = (await lockMembers(db, [memberId])).get(memberId);
  if (member === undefined) throw notFound();
  return member;
}

/** Locks the caller's own membership: who was removed while waiting for it is not let in any more. */
export async function lockSelf(db: Db, { memberId }: Caller): Promise<MemberRow> {
  const member = (await lockMembers(db, [memberId])).get(memberId);
  if (member === undefined) throw unauthorized();
  return member;
}

/** The row after the changes: the next version, changed `at`. */
export const changedMember = (
  member: MemberRow,
  changes: Partial<Pick<MemberRow, 'role' | 'status'>>,
  at: string,
): MemberRow => ({ ...member, ...changes, updated_at: at, version: member.version + 1 });

const changing = ['role', 'status', 'updated_at', 'version'] as const;

/** Writes what can change of a locked member. */
export const setMember = (member: MemberRow): Query<unknown> =>
  sql`${sql.update('members', changing, member)} where ${of()} and id = ${member.id}`;

/** Ends what a locked member and their agents hold; app.release_member says what that is. */
export const releaseMember = (memberId: string): Query<unknown> =>
  sql`select app.release_member(${organization}, ${memberId})`;

/** Whether an active member has this address, in any case. */
export async function isMemberAddress(db: Db, email: string): Promise<boolean> {
  const found = await db.find(
    sql`select id from members where ${of()} and lower(email) = lower(${email}) and status = 'active'`,
  );
  return found !== undefined;
}

interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: OrgRole;
}

/** Writes a new member under a handle of their own. Whoever adds members to an organization takes turns. */
export async function setNewMember(db: Db, { email, name, role }: NewMember): Promise<Member> {
  const wanted = handleFor(name, email);
  const taken = await db.all(
    sql<{ handle: string }>`select handle from members where ${of()} and starts_with(handle, ${wanted})`,
  );
  const handle = uniqueHandle(wanted, new Set(taken.map((row) => row.handle)));
  return toMember(
    await db.one(
      sql<MemberRow>`insert into members (org_id, id, email, name, handle, role, status) values (${organization}, ${newId()}, ${email}, ${name}, ${handle}, ${role}, 'active') returning ${sql.columns(memberColumns)}`,
    ),
  );
}
