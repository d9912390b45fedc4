/**
 * The project_members table: roles given to members in a project. It also lists all members with a role from
 * any source.
 */
import { type Selectable } from 'kysely';
import {
  CursorId,
  CursorText,
  type Db,
  type DB,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Query,
  sql,
} from '@muster/driver';
import {
  type OrgRole,
  type ParamsOf,
  type Participant,
  type ProjectRole,
  projectRoles,
} from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { z } from 'zod';

export interface ProjectMemberRole {
  readonly role: ProjectRole;
  readonly created_at: string;
}

/** Reads an active member, and locks it against removal and role changes until this transaction ends. */
export function lockActiveMember(
  db: Db,
  memberId: string,
): Promise<{ name: string; handle: string; role: OrgRole }> {
  return db.get(
    sql<
      Pick<Selectable<DB['members']>, 'name' | 'handle' | 'role'>
    >`select name, handle, role from members where ${orgFilter()} and id = ${memberId} and status = 'active' for share`,
  );
}

/** Finds the role given to a member in a project. */
export function findDirectProjectRole(
  db: Db,
  projectId: IdOrSql,
  memberId: string,
): Promise<ProjectMemberRole | undefined> {
  return db.find(
    sql<ProjectMemberRole>`select pm.role, pm.created_at from project_members pm
       where ${orgFilter('pm')} and pm.project_id = ${projectId} and pm.member_id = ${memberId}::uuid`,
  );
}

/** Gives a member a role in a locked project, and replaces an earlier one. */
export const setDirectProjectRole = (
  projectId: string,
  memberId: string,
  { role, created_at }: ProjectMemberRole,
): Query<unknown> =>
  sql`insert into project_members (org_id, project_id, member_id, role, created_at) values (${currentOrgId}, ${projectId}, ${memberId}, ${role}, ${created_at}) on conflict (org_id, project_id, member_id) do update set role = excluded.role`;

export const deleteDirectProjectRole = (projectId: string, memberId: string): Query<unknown> =>
  sql`delete from project_members where ${orgFilter()} and project_id = ${projectId} and member_id = ${memberId}`;

const Cursor = z.tuple([CursorText, CursorId]);

interface ParticipantRow {
  readonly id: string;
  readonly name: string;
  readonly rank: number;
  readonly via: Participant['via'];
}

const toParticipant = ({ id, name, rank, via }: ParticipantRow): Participant => {
  const role = projectRoles[rank - 1];
  if (role === undefined) throw new Error('a listed member has no role');
  return { memberId: id, name, role, via };
};

/**
 * Lists a page of the members with a role in a project, by name. In a visible project all members have a
 * role, so the statement reads them by name and only as far as needed. A private project has few members with
 * a role, so the statement reads all of them. Only the part for the project's visibility runs.
 */
export async function listParticipants(
  db: Db,
  projectId: IdOrSql,
  { limit, cursor }: ParamsOf<BoardRegistry['projects']['members']['list']>,
): Promise<{ items: Participant[]; nextCursor: string | null }> {
  const most = sql.part`${limit + 1}`;
  const after = decodeCursor(cursor, Cursor);
  const follows =
    after === undefined ? sql.part`true` : sql.part`(m.name, m.id) > (${after[0]}::text, ${after[1]}::uuid)`;
  const teams = sql.part`project_teams pt join team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
    where ${orgFilter('pt')} and pt.project_id = (select p.id from project p)`;
  const members = sql.part`select m.id, m.name, m.role from members m
    where ${orgFilter('m')} and m.status = 'active' and ${follows} and (select p.visibility from project p)`;
  const rows = await db.all(
    sql<ParticipantRow>`with project as (
         select p.id, p.visibility from projects p where ${orgFilter('p')} and p.id = ${projectId}),
       participant as (
         (${members} = 'org' order by m.name, m.id limit ${most})
         union all
         ${members} = 'private' and m.id in (
           select pm.member_id from project_members pm
             where ${orgFilter('pm')} and pm.project_id = (select p.id from project p)
           union select tm.member_id from ${teams}
           union select a.id from members a
             where ${orgFilter('a')} and a.status = 'active' and a.role in ('owner', 'admin')))
       select m.id, m.name, held.rank, held.via
       from participant m cross join project p cross join lateral (
         select h.rank, h.via from (
           select app.held_rank(pm.role, m.role), 'direct', 1 from project_members pm
             where ${orgFilter('pm')} and pm.project_id = p.id and pm.member_id = m.id
           union all select max(app.held_rank(pt.role, m.role)), 'team', 2 from ${teams} and tm.member_id = m.id
           union all select app.given_rank(p.visibility, m.role), 'org', 3
         ) h (rank, via, place) where h.rank is not null order by h.rank desc, h.place limit 1) held
       order by m.name, m.id limit ${most}`,
  );
  return pageOfRows(rows, limit, (row) => [row.name, row.id], toParticipant);
}
