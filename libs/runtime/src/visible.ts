/**
 * Determines what a caller may see in the organization beyond the project that the authorization check
 * covered.
 */
import { type Db, of, organization, type Part, sql } from '@muster/driver';
import { named } from '@muster/registry';
import { projectIdOf, storyIdOf } from '@muster/tenancy';
import { type Caller } from './handle.ts';

/** Returns SQL for the projects that the caller may see: `project_id` with the caller's `project_rank`. */
export const visibleTo = ({ memberId, tokenId }: Caller): Part =>
  sql.part`app.visible_projects(${organization}, ${memberId}::uuid, ${tokenId}::uuid)`;

/**
 * Returns SQL for the projects that the caller may see and that are not archived. Lists of work omit archived
 * ones.
 */
export const atWorkFor = (caller: Caller): Part =>
  sql.part`(select v.project_id, v.project_rank from ${visibleTo(caller)} v
    join projects p on ${of('p')} and p.id = v.project_id and p.archived_at is null)`;

/** Throws 404 for the parameter projectId unless the caller may see the project. */
export async function requireProject(db: Db, caller: Caller, ref: string): Promise<void> {
  const query = sql`select v.project_id from ${visibleTo(caller)} v where v.project_id = ${projectIdOf(ref)}`;
  await named('projectId', db.get(query));
}

/** Throws 404 for the parameter storyId unless the story exists in a project that the caller may see. */
export async function requireStory(db: Db, caller: Caller, ref: string): Promise<void> {
  const query = sql`select s.id from stories s join ${visibleTo(caller)} v on v.project_id = s.project_id
       where ${of('s')} and s.id = ${storyIdOf(ref)}`;
  await named('storyId', db.get(query));
}

/** Throws 404 unless the team exists. */
export async function requireTeam(db: Db, teamId: string): Promise<void> {
  await db.get(sql`select t.id from teams t where ${of('t')} and t.id = ${teamId}`);
}
