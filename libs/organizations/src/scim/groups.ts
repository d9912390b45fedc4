/** Teams as identity providers see them. Deactivated members keep their place in a team until the activation. */
import {
  type Db,
  currentOrgId,
  defineRecord,
  orgFilter,
  type Part,
  type Query,
  type RowOf,
  sql,
} from '@muster/driver';
import { badRequest, isUuid, type ScimGroup } from '@muster/contract';
import { isoTimeSql } from '@muster/tenancy';
import { type MembersChange } from './attributes.ts';
import { type CompiledFilter, type FilterAttributes } from './filter.ts';
import { type PageRange } from './page.ts';
import { isUserSql } from './users.ts';

export const scimTeams = defineRecord('teams', 't', {
  name: { set: true },
  description: { initial: '' },
  external_id: { set: true, emptyValue: null },
});
export type ScimTeamRow = RowOf<typeof scimTeams>;
type ScimMember = NonNullable<ScimGroup['members']>[number];

export const toScimGroup = (team: ScimTeamRow, members: ScimGroup['members']): ScimGroup => ({
  id: team.id,
  displayName: team.name,
  externalId: team.external_id,
  members,
  createdAt: team.created_at,
  updatedAt: team.updated_at,
});

/** The maximum number of members in an answer, of all its groups together. */
const maxMembersPerAnswer = 10_000;

/** Returns the members of these teams by team. Throws 400 if there are too many for an answer. */
export async function listMembersOfTeams(
  db: Db,
  teamIds: Part,
): Promise<ReadonlyMap<string, readonly ScimMember[]>> {
  const rows = await db.all(
    sql<
      ScimMember & { readonly team_id: string }
    >`with wanted as (select t.id from teams t where ${orgFilter('t')} and t.id in (${teamIds}))
      select tm.team_id, m.id, m.name from wanted w join team_members tm on ${orgFilter('tm')} and tm.team_id = w.id
        join members m on ${orgFilter('m')} and m.id = tm.member_id
      union all
      select w.id, m.id, m.name from wanted w join members m on ${orgFilter('m')} and m.deactivated_at is not null
        and m.paused_team_ids @> array[w.id] and ${isUserSql}
      limit ${maxMembersPerAnswer + 1}`,
  );
  if (rows.length > maxMembersPerAnswer)
    throw badRequest(
      `The groups have more than ${maxMembersPerAnswer} members. Send excludedAttributes=members.`,
      [{ path: 'tooMany', message: 'has too many members' }],
    );
  const byTeam = new Map<string, (typeof rows)[number][]>();
  for (const row of rows) {
    const known = byTeam.get(row.team_id);
    if (known === undefined) byTeam.set(row.team_id, [row]);
    else known.push(row);
  }
  return byTeam;
}

export const groupFilterAttributes: FilterAttributes = {
  id: { key: 'id', kind: 'text' },
  members: { key: 'member', kind: 'reference' },
  'members.value': { key: 'member', kind: 'reference' },
  displayname: { key: 'displayName', kind: 'text' },
  externalid: { key: 'externalId', kind: 'exact' },
  'meta.created': { key: 'created', kind: 'time' },
  'meta.lastmodified': { key: 'lastModified', kind: 'time' },
};

const groupDocument = sql.part`jsonb_build_object('id', t.id, 'displayName', lower(t.name), 'externalId', t.external_id,
  'created', ${isoTimeSql(sql.part`t.created_at`)}, 'lastModified', ${isoTimeSql(sql.part`t.updated_at`)})`;

/** Lists a page of groups in the order of their creation, with the total of those that the filter matches. */
export async function listGroups(
  db: Db,
  { path, required }: CompiledFilter,
  { startIndex, count, includeMembers }: PageRange & { readonly includeMembers: boolean },
): Promise<{ total: number; resources: ScimGroup[] }> {
  const { displayName = null, externalId = null, member = null } = required;
  if (member !== null && !isUuid(member)) return { total: 0, resources: [] };
  // Unknown values are constants for the planner, which can use the indexes of the others.
  const found = sql.part`teams t where ${orgFilter('t')}
    and (${displayName}::text is null or lower(t.name) = lower(${displayName}::text))
    and (${externalId}::text is null or t.external_id = ${externalId}::text)
    and (${member}::uuid is null
      or exists (select from team_members tm where ${orgFilter('tm')} and tm.team_id = t.id and tm.member_id = ${member}::uuid)
      or exists (select from members m where ${orgFilter('m')} and m.id = ${member}::uuid and t.id = any (m.paused_team_ids) and ${isUserSql}))
    and (${path}::jsonpath is null or jsonb_path_match(${groupDocument}, ${path}::jsonpath, '{}', true))`;
  const page = sql.part`from ${found} order by t.id offset ${startIndex - 1} limit ${count}`;
  const [{ total }, rows, membersByTeam] = await Promise.all([
    db.one(sql<{ total: number }>`select count(*)::int as total from ${found}`),
    db.all(sql<ScimTeamRow>`select ${scimTeams.list} ${page}`),
    includeMembers ? listMembersOfTeams(db, sql.part`select t.id ${page}`) : null,
  ]);
  const resources = rows.map((row) =>
    toScimGroup(row, membersByTeam && [...(membersByTeam.get(row.id) ?? [])]),
  );
  return { total, resources };
}

/** A user who is added to a team. */
interface AddedUser extends ScimMember {
  readonly is_active: boolean;
  /** True if the user is in the team already. */
  readonly is_in: boolean;
}

/** The effect of a requested change on a locked team. */
export interface MembershipDiff {
  /** The users who were named as members. */
  readonly users: readonly AddedUser[];
  readonly joining: readonly AddedUser[];
  /** The ids of active members who leave. */
  readonly leaving: readonly string[];
}

/** Computes who joins and leaves a locked team. Locks the users who are added. Throws 400 for an unknown user. */
export async function planMembership(
  db: Db,
  teamId: string,
  { isReplacement, added, removed }: MembersChange,
): Promise<MembershipDiff> {
  const ids = [...added];
  const leavingIds = isReplacement
    ? sql.part`tm.member_id <> all (${ids}::uuid[])`
    : sql.part`tm.member_id = any (${[...removed]}::uuid[])`;
  const [users, leaving] = await Promise.all([
    db.all(
      sql<AddedUser>`select m.id, m.name, m.status = 'active' as is_active,
          exists (select from team_members tm where ${orgFilter('tm')} and tm.team_id = ${teamId} and tm.member_id = m.id)
            or ${teamId}::uuid = any (coalesce(m.paused_team_ids, '{}')) as is_in
        from members m where ${orgFilter('m')} and m.id = any (${ids}::uuid[]) and ${isUserSql} order by m.id for no key update of m`,
    ),
    db.all(
      sql<{ id: string }>`select tm.member_id as id from team_members tm
        where ${orgFilter('tm')} and tm.team_id = ${teamId} and ${leavingIds} order by tm.member_id`,
    ),
  ]);
  if (users.length < ids.length) {
    const known = new Set(users.map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id)) ?? '';
    throw badRequest(`No user has the id ${unknown}.`, [
      { path: 'members', message: 'must be ids of users' },
    ]);
  }
  return { users, joining: users.filter((user) => !user.is_in), leaving: leaving.map(({ id }) => id) };
}

/** Writes a membership diff, and the places of deactivated members, who join and leave without an event. */
export function writeMembership(
  db: Db,
  teamId: string,
  { isReplacement, added, removed }: MembersChange,
  { joining, leaving }: MembershipDiff,
): void {
  const idsOf = (isActive: boolean) =>
    joining.filter((user) => user.is_active === isActive).map(({ id }) => id);
  const [active, paused] = [idsOf(true), idsOf(false)];
  if (active.length > 0)
    db.deferToCommit(
      sql`insert into team_members (org_id, team_id, member_id, role) select ${currentOrgId}, ${teamId}, m.id, 'member'
        from unnest(${active}::uuid[]) as m (id) on conflict do nothing`,
    );
  if (leaving.length > 0)
    db.deferToCommit(
      sql`delete from team_members tm where ${orgFilter('tm')} and tm.team_id = ${teamId} and tm.member_id = any (${leaving}::uuid[])`,
    );
  if (paused.length > 0)
    db.deferToCommit(
      sql`update members m set paused_team_ids = array_append(m.paused_team_ids, ${teamId}::uuid)
        where ${orgFilter('m')} and m.id = any (${paused}::uuid[])`,
    );
  if (isReplacement || removed.size > 0)
    db.deferToCommit(leavePausedPlaces(teamId, isReplacement ? null : [...removed], [...added]));
}

const leavePausedPlaces = (
  teamId: string,
  removedIds: readonly string[] | null,
  keptIds: readonly string[],
): Query<unknown> =>
  sql`update members m set paused_team_ids = array_remove(m.paused_team_ids, ${teamId}::uuid)
    where ${orgFilter('m')} and m.deactivated_at is not null and m.paused_team_ids @> array[${teamId}::uuid]
      and m.id <> all (${keptIds}::uuid[]) and (${removedIds}::uuid[] is null or m.id = any (${removedIds}::uuid[]))`;
