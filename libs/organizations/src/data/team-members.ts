/** The members of teams. */
import {
  CursorId,
  CursorTime,
  type Db,
  decodeCursor,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Query,
  sql,
} from '@muster/driver';
import { notFound, type ParamsOf, type TeamMember } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { z } from 'zod';

interface TeamMemberRow {
  readonly team_id: string;
  readonly member_id: string;
  readonly name: string;
  readonly handle: string;
  readonly role: TeamMember['role'];
  readonly created_at: string;
}

const toTeamMember = (row: TeamMemberRow): TeamMember => ({
  teamId: row.team_id,
  memberId: row.member_id,
  name: row.name,
  handle: row.handle,
  role: row.role,
  addedAt: row.created_at,
});

const selectTeamMembers = sql.part`select tm.team_id, tm.member_id, m.name, m.handle, tm.role, tm.created_at
  from team_members tm join members m on m.org_id = tm.org_id and m.id = tm.member_id`;

/** Finds a member of a team; undefined if they do not belong to it. */
export async function findTeamMember(
  db: Db,
  teamId: string,
  memberId: string,
): Promise<TeamMember | undefined> {
  const row = await db.find(
    sql<TeamMemberRow>`${selectTeamMembers} where ${orgFilter('tm')} and tm.team_id = ${teamId} and tm.member_id = ${memberId}`,
  );
  return row && toTeamMember(row);
}

/** Reads a member of a locked team. Throws 404 if they do not belong to it. */
export async function getTeamMember(db: Db, teamId: string, memberId: string): Promise<TeamMember> {
  const teamMember = await findTeamMember(db, teamId, memberId);
  if (teamMember === undefined) throw notFound();
  return teamMember;
}

const Cursor = z.tuple([CursorTime, CursorId]);

/** Lists the members of a team in pages, in the order in which they joined. */
export async function listTeamMembers(
  db: Db,
  { teamId, limit, cursor }: ParamsOf<OrganizationsRegistry['teams']['members']['list']>,
): Promise<{ items: TeamMember[]; nextCursor: string | null }> {
  const where = [orgFilter('tm'), sql.part`tm.team_id = ${teamId}::uuid`];
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined)
    where.push(sql.part`(tm.created_at, tm.member_id) > (${after[0]}::timestamptz, ${after[1]}::uuid)`);
  const rows = await db.all(
    sql<TeamMemberRow>`${selectTeamMembers} where ${sql.join(where, ' and ')}
       order by tm.created_at, tm.member_id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.created_at, row.member_id], toTeamMember);
}

/** Adds a locked member to a locked team. */
export const insertTeamMember = (teamMember: TeamMember): Query<unknown> =>
  sql`insert into team_members (org_id, team_id, member_id, role, created_at) values (${currentOrgId}, ${teamMember.teamId}, ${teamMember.memberId}, ${teamMember.role}, ${teamMember.addedAt})`;

/** Writes a member's role in a locked team. */
export const updateTeamMemberRole = ({ teamId, memberId, role }: TeamMember): Query<unknown> =>
  sql`update team_members set role = ${role} where ${orgFilter()} and team_id = ${teamId} and member_id = ${memberId}`;

export const deleteTeamMember = ({ teamId, memberId }: TeamMember): Query<unknown> =>
  sql`delete from team_members where ${orgFilter()} and team_id = ${teamId} and member_id = ${memberId}`;

/** Removes the role of team lead from a locked member, who stays in those teams. */
export const removeTeamLeadRoles = (memberId: string): Query<unknown> =>
  sql`update team_members set role = 'member' where ${orgFilter()} and member_id = ${memberId} and role = 'lead'`;
