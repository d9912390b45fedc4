/** Who is in a team. */
import { type Db, decodeCursor, pageOfRows, type Query, query, sqlQuery, Values } from '@muster/database';
import { isUuid, notFound, type ParamsOf, type Registry, type TeamMember } from '@muster/registry';
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

const teamMembers = `select tm.team_id, tm.member_id, m.name, m.handle, tm.role, tm.created_at
  from team_members tm join members m on m.org_id = tm.org_id and m.id = tm.member_id`;

/** Somebody in a team, if they are. */
export async function findTeamMember(
  db: Db,
  orgId: string,
  teamId: string,
  memberId: string,
): Promise<TeamMember | undefined> {
  const row = await db.find(
    sqlQuery<TeamMemberRow>(`${teamMembers} where tm.org_id = $1 and tm.team_id = $2 and tm.member_id = $3`, [
      orgId,
      teamId,
      memberId,
    ]),
  );
  return row && toTeamMember(row);
}

/** Somebody in a team that is locked. */
export async function getTeamMember(
  db: Db,
  orgId: string,
  teamId: string,
  memberId: string,
): Promise<TeamMember> {
  const teamMember = await findTeamMember(db, orgId, teamId, memberId);
  if (teamMember === undefined) throw notFound();
  return teamMember;
}

const Cursor = z.tuple([z.iso.datetime({ precision: 3 }), z.string().refine(isUuid)]);

/** A page of a team, in the order in which its members came. */
export async function listTeamMembers(
  db: Db,
  orgId: string,
  { teamId, limit, cursor }: ParamsOf<Registry['teams']['members']['list']>,
): Promise<{ items: TeamMember[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [`tm.org_id = ${values.org}`, `tm.team_id = ${values.uuid(teamId)}`];
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) {
    where.push(`(tm.created_at, tm.member_id) > (${values.instant(after[0])}, ${values.uuid(after[1])})`);
  }
  const rows = await db.all(
    sqlQuery<TeamMemberRow>(
      `${teamMembers} where ${where.join(' and ')}
       order by tm.created_at, tm.member_id limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.created_at, row.member_id], toTeamMember);
}

/** Puts a locked member into a locked team. */
export const insertTeamMember = (orgId: string, added: TeamMember): Query<unknown> =>
  query.insertInto('team_members').values({
    org_id: orgId,
    team_id: added.teamId,
    member_id: added.memberId,
    role: added.role,
    created_at: added.addedAt,
  });

/** Writes somebody's role in a locked team. */
export const setTeamMember = (orgId: string, { teamId, memberId, role }: TeamMember): Query<unknown> =>
  query
    .updateTable('team_members')
    .set({ role })
    .where('org_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('member_id', '=', memberId);

export const deleteTeamMember = (orgId: string, { teamId, memberId }: TeamMember): Query<unknown> =>
  query
    .deleteFrom('team_members')
    .where('org_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('member_id', '=', memberId);
