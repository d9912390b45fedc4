import {
  type Db,
  newId,
  orgFilter,
  currentOrgId,
  type Part,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type Member, notFound, type OrgRole, type Subject, subjectOf, unauthorized } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { deriveHandle } from '../rules/handles.ts';

export const members = defineRecord('members', 'm', {
  email: {},
  name: {},
  handle: {},
  role: {},
  status: {},
});
export type MemberRow = RowOf<typeof members>;
export const toMember: (row: MemberRow) => Member = members.shown;

export async function getMember(db: Db, memberId: string): Promise<Member> {
  return toMember(await members.get(db, memberId));
}

/** Returns the subject of an event about the member. */
export const toMemberEventSubject = (member: Pick<MemberRow, 'id' | 'handle' | 'name'>): Subject =>
  subjectOf('member', member, member.name, member.handle);

/**
 * Locks active members in the order of their ids against other calls that change or remove them. Returns them
 * by id. Removed members are left out.
 */
export async function lockMembers(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, MemberRow>> {
  const rows = await db.all(
    sql<MemberRow>`select ${members.list} from members m where ${orgFilter('m')} and m.id = any (${[...new Set(ids)]}) and m.status = 'active' order by m.id for no key update`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export async function lockMember(db: Db, memberId: string): Promise<MemberRow> {
  const member = (await lockMembers(db, [memberId])).get(memberId);
  if (member === undefined) throw notFound();
  return member;
}

/**
 * Locks the caller's own membership. Throws 401 if the member was removed while this call waited for the
 * lock.
 */
export async function lockCallerMembership(db: Db, { memberId }: Caller): Promise<MemberRow> {
  const member = (await lockMembers(db, [memberId])).get(memberId);
  if (member === undefined) throw unauthorized();
  return member;
}

/** Releases everything that a locked member and their agents hold, with the function app.release_member. */
export const releaseHoldingsOfMember = (memberId: string): Query<unknown> =>
  sql`select app.release_member(${currentOrgId}, ${memberId})`;

/** Returns whether an active member has this address. Upper and lower case are equal. */
export async function hasMemberWithEmail(db: Db, email: string): Promise<boolean> {
  const found = await db.find(
    sql`select id from members where ${orgFilter()} and lower(email) = lower(${email}) and status = 'active'`,
  );
  return found !== undefined;
}

interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: OrgRole;
}

/** Returns SQL for a handle that no other member and no agent of the organization has. */
export const newHandleSql = ({ name, email }: Pick<NewMember, 'name' | 'email'>): Part =>
  sql.part`app.free_name(${currentOrgId}, ${deriveHandle(name, email)}, 39)`;

export async function insertMember(db: Db, { email, name, role }: NewMember): Promise<Member> {
  return toMember(
    await db.one(
      sql<MemberRow>`insert into members as m (org_id, id, email, name, handle, role, status) values (${currentOrgId}, ${newId()}, ${email}, ${name}, ${newHandleSql({ name, email })}, ${role}, 'active') returning ${members.list}`,
    ),
  );
}
