/** The project_teams table: roles given to teams in a project, seen from the project and from the team. */
import { type Db, decodeCursor, pageOfRows, type Query, query, sqlQuery, Values } from '@muster/database';
import {
  isCleanText,
  type ParamsOf,
  ProjectKey,
  type ProjectRole,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { type Caller, notFound, visibleProjects } from '@muster/runtime';
import { z } from 'zod';
import { type GivenRole } from './project-members.ts';

/** A team that is not deleted until this transaction ends. */
export async function lockTeam(db: Db, orgId: string, teamId: string): Promise<{ name: string }> {
  const team = await db.find(
    query
      .selectFrom('teams')
      .select('name')
      .where('org_id', '=', orgId)
      .where('id', '=', teamId)
      .forKeyShare(),
  );
  if (team === undefined) throw notFound();
  return team;
}

/** The role that a team was given in a project. */
export function findTeamRole(
  db: Db,
  orgId: string,
  projectRef: string,
  teamId: string,
): Promise<GivenRole | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<GivenRole>(
      `select pt.role, pt.created_at from project_teams pt
       where pt.org_id = ${values.org} and pt.project_id = ${values.projectId(projectRef)} and pt.team_id = ${values.uuid(teamId)}`,
      values.list,
    ),
  );
}

/** Gives a team a role in a locked project, in place of the one given before. */
export const setTeamRole = (
  orgId: string,
  projectId: string,
  teamId: string,
  { role, created_at }: GivenRole,
): Query<unknown> =>
  query
    .insertInto('project_teams')
    .values({ org_id: orgId, project_id: projectId, team_id: teamId, role, created_at })
    .onConflict((conflict) => conflict.columns(['org_id', 'project_id', 'team_id']).doUpdateSet({ role }));

export const deleteTeamRole = (orgId: string, projectId: string, teamId: string): Query<unknown> =>
  query
    .deleteFrom('project_teams')
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .where('team_id', '=', teamId);

/** Names of teams differ in more than case, so the name in small letters is a key. */
const TeamCursor = z.tuple([z.string().refine(isCleanText)]);

/** A page of the teams of a project, by name. */
export async function listTeamsOfProject(
  db: Db,
  orgId: string,
  { projectId, limit, cursor }: ParamsOf<Registry['projects']['teams']['list']>,
): Promise<ResultOf<Registry['projects']['teams']['list']>> {
  const values = new Values(orgId);
  const where = [`pt.org_id = ${values.org}`, `pt.project_id = ${values.projectId(projectId)}`];
  const after = decodeCursor(cursor, TeamCursor);
  if (after !== undefined) where.push(`lower(t.name) > ${values.$(after[0])}`);
  const rows = await db.all(
    sqlQuery<{ id: string; name: string; role: ProjectRole; place: string }>(
      `select t.id, t.name, pt.role, lower(t.name) as place from project_teams pt
       join teams t on t.org_id = pt.org_id and t.id = pt.team_id
       where ${where.join(' and ')} order by lower(t.name) limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    limit,
    ({ place }) => [place],
    ({ id, name, role }) => ({ team: { id, name }, role }),
  );
}

const KeyCursor = z.tuple([ProjectKey]);

/** A page of the projects of a team that the caller may see, by key. */
export async function listProjectsOfTeam(
  db: Db,
  caller: Caller,
  { teamId, limit, cursor }: ParamsOf<Registry['teams']['projects']['list']>,
): Promise<ResultOf<Registry['teams']['projects']['list']>> {
  const values = new Values(caller.orgId);
  const where = [`pt.org_id = ${values.org}`, `pt.team_id = ${values.uuid(teamId)}`];
  const after = decodeCursor(cursor, KeyCursor);
  if (after !== undefined) where.push(`p.key > ${values.$(after[0])}`);
  const rows = await db.all(
    sqlQuery<{ id: string; key: string; name: string; role: ProjectRole }>(
      `select p.id, p.key, p.name, pt.role from project_teams pt
       join projects p on p.org_id = pt.org_id and p.id = pt.project_id
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where ${where.join(' and ')} order by p.key limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    limit,
    ({ key }) => [key],
    ({ role, ...project }) => ({ project, role }),
  );
}

/** 404 unless there is the team. */
export async function requireTeam(db: Db, orgId: string, teamId: string): Promise<void> {
  const team = await db.find(
    query.selectFrom('teams').select('id').where('org_id', '=', orgId).where('id', '=', teamId),
  );
  if (team === undefined) throw notFound();
}
