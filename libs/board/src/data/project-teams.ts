/** The project_teams table: roles given to teams in a project, listed by project and by team. */
import { type Selectable } from 'kysely';
import {
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
import { type ParamsOf, type ProjectRole, type ResultOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { z } from 'zod';
import { type ProjectMemberRole } from './project-members.ts';

/** Reads a team, and locks it against deletion until this transaction ends. */
export function lockTeam(db: Db, teamId: string): Promise<{ name: string }> {
  return db.get(
    sql<
      Pick<Selectable<DB['teams']>, 'name'>
    >`select name from teams where ${orgFilter()} and id = ${teamId} for key share`,
  );
}

/** Finds the role given to a team in a project. */
export function findTeamRole(
  db: Db,
  projectId: IdOrSql,
  teamId: string,
): Promise<ProjectMemberRole | undefined> {
  return db.find(
    sql<ProjectMemberRole>`select pt.role, pt.created_at from project_teams pt
       where ${orgFilter('pt')} and pt.project_id = ${projectId} and pt.team_id = ${teamId}::uuid`,
  );
}

/** Gives a team a role in a locked project, and replaces an earlier one. */
export const setTeamRole = (
  projectId: string,
  teamId: string,
  { role, created_at }: ProjectMemberRole,
): Query<unknown> =>
  sql`insert into project_teams (org_id, project_id, team_id, role, created_at) values (${currentOrgId}, ${projectId}, ${teamId}, ${role}, ${created_at}) on conflict (org_id, project_id, team_id) do update set role = excluded.role`;

export const deleteTeamRole = (projectId: string, teamId: string): Query<unknown> =>
  sql`delete from project_teams where ${orgFilter()} and project_id = ${projectId} and team_id = ${teamId}`;

/** The cursor of teams: the name in lower case, which is unique. */
const TeamCursor = z.tuple([CursorText]);

/** Lists a page of a project's teams, by name. */
export async function listTeamsOfProject(
  db: Db,
  projectId: IdOrSql,
  { limit, cursor }: ParamsOf<BoardRegistry['projects']['teams']['list']>,
): Promise<ResultOf<BoardRegistry['projects']['teams']['list']>> {
  const where = [orgFilter('pt'), sql.part`pt.project_id = ${projectId}`];
  const after = decodeCursor(cursor, TeamCursor);
  if (after !== undefined) where.push(sql.part`lower(t.name) > ${after[0]}`);
  const rows = await db.all(
    sql<{
      id: string;
      name: string;
      role: ProjectRole;
      place: string;
    }>`select t.id, t.name, pt.role, lower(t.name) as place from project_teams pt
       join teams t on t.org_id = pt.org_id and t.id = pt.team_id
       where ${sql.join(where, ' and ')} order by lower(t.name) limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    ({ place }) => [place],
    ({ id, name, role }) => ({ team: { id, name }, role }),
  );
}

const KeyCursor = z.tuple([CursorText]);

/** Lists a page of a team's projects that the caller may see, by key. */
export async function listProjectsOfTeam(
  db: Db,
  caller: Caller,
  { teamId, limit, cursor }: ParamsOf<BoardRegistry['teams']['projects']['list']>,
): Promise<ResultOf<BoardRegistry['teams']['projects']['list']>> {
  const where = [orgFilter('pt'), sql.part`pt.team_id = ${teamId}::uuid`];
  const after = decodeCursor(cursor, KeyCursor);
  if (after !== undefined) where.push(sql.part`p.key > ${after[0]}`);
  const rows = await db.all(
    sql<{
      id: string;
      key: string;
      name: string;
      role: ProjectRole;
    }>`select p.id, p.key, p.name, pt.role from project_teams pt
       join projects p on p.org_id = pt.org_id and p.id = pt.project_id
       join ${projectsVisibleTo(caller)} v on v.project_id = p.id
       where ${sql.join(where, ' and ')} order by p.key limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    ({ key }) => [key],
    ({ role, ...project }) => ({ project, role }),
  );
}
