/**
 * Determines what a caller may see in the organization beyond the project that the authorization check
 * covered.
 */
import { type Db, orgFilter, currentOrgId, type Part, sql } from '@muster/driver';
import { withPathOnNotFound } from '@muster/contract';
import { projectIdSql, storyIdSql } from '@muster/tenancy';
import { type Caller } from './handle.ts';

/** Returns SQL for the projects that the caller may see: `project_id` with the caller's `project_rank`. */
export const projectsVisibleTo = ({ memberId, tokenId }: Caller): Part =>
  sql.part`app.visible_projects(${currentOrgId}, ${memberId}::uuid, ${tokenId}::uuid)`;

/**
 * Returns SQL for the projects that the caller may see and that are not archived. Lists of work omit archived
 * ones.
 */
export const activeProjectsVisibleTo = (caller: Caller): Part =>
  sql.part`(select v.project_id, v.project_rank from ${projectsVisibleTo(caller)} v
    join projects p on ${orgFilter('p')} and p.id = v.project_id and p.archived_at is null)`;

/** A project that the caller may see, with the rank of the caller's role in it. */
export interface VisibleProject {
  readonly id: string;
  readonly rank: number;
  readonly archived: boolean;
}

/** Reads the project with the rank of the caller's role in it. Throws 404 if the caller may not see it. */
export const getVisibleProject = (db: Db, caller: Caller, projectRef: string): Promise<VisibleProject> =>
  withPathOnNotFound(
    'projectId',
    db.get(
      sql<VisibleProject>`select p.id, v.project_rank as rank, p.archived_at is not null as archived from projects p
         join ${projectsVisibleTo(caller)} v on v.project_id = p.id
         where ${orgFilter('p')} and p.id = ${projectIdSql(projectRef)}`,
    ),
  );

/** Throws 404 for the parameter projectId unless the caller may see the project. */
export async function requireProject(db: Db, caller: Caller, ref: string): Promise<void> {
  const query = sql`select v.project_id from ${projectsVisibleTo(caller)} v where v.project_id = ${projectIdSql(ref)}`;
  await withPathOnNotFound('projectId', db.get(query));
}

/** Throws 404 for the parameter storyId unless the story exists in a project that the caller may see. */
export async function requireStory(db: Db, caller: Caller, ref: string): Promise<void> {
  const query = sql`select s.id from stories s join ${projectsVisibleTo(caller)} v on v.project_id = s.project_id
       where ${orgFilter('s')} and s.id = ${storyIdSql(ref)}`;
  await withPathOnNotFound('storyId', db.get(query));
}

/** Throws 404 unless the team exists. */
export async function requireTeam(db: Db, teamId: string): Promise<void> {
  await db.get(sql`select t.id from teams t where ${orgFilter('t')} and t.id = ${teamId}`);
}
