/** Members as identity providers see them: the active ones, and those whom they deactivated. */
import {
  type Db,
  defineRecord,
  orgFilter,
  currentOrgId,
  newId,
  type Part,
  type Query,
  type RowOf,
  sql,
} from '@muster/driver';
import { type ScimUser } from '@muster/contract';
import { isoTimeSql } from '@muster/tenancy';
import { newHandleSql } from '../data/members.ts';
import { type CompiledFilter, type FilterAttributes } from './filter.ts';
import { type PageRange } from './page.ts';

export const scimMembers = defineRecord('members', 'm', {
  email: { set: true },
  name: { set: true },
  handle: {},
  role: {},
  status: { initial: 'active' },
  external_id: { set: true, emptyValue: null },
  given_name: { set: true, emptyValue: null },
  family_name: { set: true, emptyValue: null },
  deactivated_at: { hidden: true, initial: null },
  paused_team_ids: { hidden: true, initial: null },
});
type MemberColumns = RowOf<typeof scimMembers>;
export interface ScimUserRow extends MemberColumns {
  readonly groups: ScimUser['groups'];
}

export const toScimUser = (row: ScimUserRow): ScimUser => ({
  id: row.id,
  userName: row.email,
  externalId: row.external_id,
  displayName: row.name,
  givenName: row.given_name,
  familyName: row.family_name,
  active: row.status === 'active',
  groups: row.groups,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** The maximum number of teams that a user is shown with. */
const maxShownGroups = 200;

/** SQL for the teams of the member `m`. A deactivated member is shown in the teams that the activation restores. */
const groupsSql = sql.part`(select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.name), '[]')
  from (select t.id, t.name from teams t
    where ${orgFilter('t')} and (t.id = any (m.paused_team_ids)
      or t.id in (select tm.team_id from team_members tm where ${orgFilter('tm')} and tm.member_id = m.id))
    order by t.name limit ${sql.literal(maxShownGroups)}) g)`;

const userColumns = sql.part`${scimMembers.list}, ${groupsSql} as groups`;

/**
 * A deactivated member is hidden while another member has the address, since identity providers find users by it.
 */
const isDeactivatedUserSql = sql.part`m.deactivated_at is not null and not exists (select from members a
  where ${orgFilter('a')} and a.status = 'active' and lower(a.email) = lower(m.email))`;
export const isUserSql = sql.part`(m.status = 'active' or (${isDeactivatedUserSql}))`;

/** Locks a user against other writers. Throws 404 if there is none with this id. */
export const lockUser = (db: Db, memberId: string): Promise<ScimUserRow> =>
  db.get(
    sql<ScimUserRow>`select ${userColumns} from members m
      where ${orgFilter('m')} and m.id = ${memberId} and ${isUserSql} for no key update`,
  );

export const getUser = (db: Db, memberId: string): Promise<ScimUserRow> =>
  db.get(
    sql<ScimUserRow>`select ${userColumns} from members m where ${orgFilter('m')} and m.id = ${memberId} and ${isUserSql}`,
  );

/** Returns true if a user other than this one has the address, in any case. */
export const isAddressTaken = async (db: Db, email: string, exceptId: string | null): Promise<boolean> =>
  (await db.find(
    sql`select m.id from members m
      where ${orgFilter('m')} and lower(m.email) = lower(${email}) and m.id is distinct from ${exceptId}::uuid
        and (m.status = 'active' or m.deactivated_at is not null) limit 1`,
  )) !== undefined;

export const insertUser = (
  db: Db,
  user: Pick<MemberColumns, 'email' | 'name' | 'external_id' | 'given_name' | 'family_name'>,
  isActive: boolean,
): Promise<MemberColumns> =>
  db.one(
    sql<MemberColumns>`insert into members as m (org_id, id, email, name, handle, role, status, external_id, given_name, family_name, deactivated_at)
      values (${currentOrgId}, ${newId()}, ${user.email}, ${user.name}, ${newHandleSql(user)},
        'member', ${isActive ? 'active' : 'removed'}, ${user.external_id}, ${user.given_name}, ${user.family_name},
        case when ${isActive} then null else now() end)
      returning ${scimMembers.list}`,
  );

/** Marks a locked active member as deactivated, and keeps their teams. Write it before the member is removed. */
export const markDeactivated = (memberId: string): Query<unknown> =>
  sql`update members m set deactivated_at = now(),
      paused_team_ids = array(select tm.team_id from team_members tm where ${orgFilter('tm')} and tm.member_id = m.id)
    where ${orgFilter('m')} and m.id = ${memberId}`;

/** Ends the deactivation of earlier members with the address, so that they can no longer be activated. */
export const forgetDeactivatedDuplicates = (memberId: string, email: string): Query<unknown> =>
  sql`update members m set deactivated_at = null, paused_team_ids = null, external_id = null
    where ${orgFilter('m')} and m.deactivated_at is not null and lower(m.email) = lower(${email}) and m.id <> ${memberId}`;

/** Clears what SCIM stores about a member who is removed for good, so that the member cannot be activated again. */
export const forgetUser = (memberId: string): Query<unknown> =>
  sql`update members m set deactivated_at = null, paused_team_ids = null, external_id = null
    where ${orgFilter('m')} and m.id = ${memberId}`;

/**
 * Makes a locked deactivated member active. The account of the member stays linked, unless its person has become
 * another member.
 */
export const activateUser = (memberId: string): Query<unknown> =>
  sql`update members m set status = 'active', activated_at = now(), deactivated_at = null, paused_team_ids = null, updated_at = now(), version = m.version + 1,
      account_id = case when exists (select from members a
        where ${orgFilter('a')} and a.status = 'active' and a.account_id = m.account_id) then null else m.account_id end
    where ${orgFilter('m')} and m.id = ${memberId}`;

export const userFilterAttributes: FilterAttributes = {
  id: { key: 'id', kind: 'text' },
  username: { key: 'userName', kind: 'text' },
  externalid: { key: 'externalId', kind: 'exact' },
  displayname: { key: 'displayName', kind: 'text' },
  'name.formatted': { key: 'displayName', kind: 'text' },
  'name.givenname': { key: 'givenName', kind: 'text' },
  'name.familyname': { key: 'familyName', kind: 'text' },
  active: { key: 'active', kind: 'boolean' },
  emails: { key: 'userName', kind: 'text' },
  'emails.value': { key: 'userName', kind: 'text' },
  'emails.type': { key: 'emailType', kind: 'text' },
  'emails.primary': { key: 'isPrimary', kind: 'boolean' },
  'meta.created': { key: 'created', kind: 'time' },
  'meta.lastmodified': { key: 'lastModified', kind: 'time' },
};

const userDocument = sql.part`jsonb_build_object('id', m.id, 'userName', lower(m.email), 'externalId', m.external_id,
  'displayName', lower(m.name), 'givenName', lower(m.given_name), 'familyName', lower(m.family_name), 'active', m.status = 'active',
  'emailType', 'work', 'isPrimary', true, 'created', ${isoTimeSql(sql.part`m.created_at`)}, 'lastModified', ${isoTimeSql(sql.part`m.updated_at`)})`;

/** Lists a page of users in the order of their creation, with the total of those that the filter matches. */
export async function listUsers(
  db: Db,
  { path, required }: CompiledFilter,
  { startIndex, count }: PageRange,
): Promise<{ total: number; resources: ScimUser[] }> {
  const { userName = null, externalId = null } = required;
  // Unknown values are constants for the planner, which can use the indexes of the others.
  const matching = (
    isOfKind: Part,
  ) => sql.part`select m.* from members m where ${orgFilter('m')} and ${isOfKind}
    and (${userName}::text is null or lower(m.email) = lower(${userName}::text))
    and (${externalId}::text is null or m.external_id = ${externalId}::text)
    and (${path}::jsonpath is null or jsonb_path_match(${userDocument}, ${path}::jsonpath, '{}', true))`;
  const found = sql.part`(${matching(sql.part`m.status = 'active'`)} union all ${matching(isDeactivatedUserSql)}) m`;
  const [{ total }, rows] = await Promise.all([
    db.one(sql<{ total: number }>`select count(*)::int as total from ${found}`),
    db.all(
      sql<ScimUserRow>`select ${userColumns} from ${found} order by m.id offset ${startIndex - 1} limit ${count}`,
    ),
  ]);
  return { total, resources: rows.map(toScimUser) };
}
