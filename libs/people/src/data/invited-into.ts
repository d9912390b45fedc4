/** The teams and projects that an invitation leads into. */
import { type Db, type Query, sqlQuery, Values } from '@muster/database';
import { isUuid, notFound } from '@muster/registry';
import { type Caller, visibleProjects } from '@muster/runtime';

/** The ids, each once; 404 unless the organization has all these teams. */
export async function getTeamIds(db: Db, orgId: string, teamIds: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(teamIds)];
  if (wanted.length === 0) return [];
  const rows = await db.all(
    sqlQuery<{ id: string }>('select id from teams where org_id = $1 and id = any ($2::uuid[])', [
      orgId,
      wanted,
    ]),
  );
  if (rows.length < wanted.length) throw notFound();
  return wanted;
}

/** The ids of the projects meant, each once; 404 unless the caller may see all of them. */
export async function getProjectIds(db: Db, caller: Caller, refs: readonly string[]): Promise<string[]> {
  if (refs.length === 0) return [];
  const values = new Values(caller.orgId);
  const ids = refs.filter(isUuid);
  const keys = refs.filter((ref) => !isUuid(ref)).map((key) => key.toUpperCase());
  const rows = await db.all(
    sqlQuery<{ id: string; key: string }>(
      `select p.id, p.key from projects p
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where p.org_id = ${values.org}
         and (p.id = any (${values.$(ids)}::uuid[]) or p.key = any (${values.$(keys)}::text[]))`,
      values.list,
    ),
  );
  const found = new Set(rows.flatMap(({ id, key }) => [id, key]));
  if (![...ids, ...keys].every((ref) => found.has(ref))) throw notFound();
  return rows.map((row) => row.id);
}

/** Puts a new member into the teams that are still there. */
export const joinTeams = (orgId: string, memberId: string, teamIds: readonly string[]): Query<unknown> =>
  sqlQuery(
    `insert into team_members (org_id, team_id, member_id, role)
     select t.org_id, t.id, $2, 'member' from teams t where t.org_id = $1 and t.id = any ($3::uuid[])
     order by t.id for key share`,
    [orgId, memberId, teamIds],
  );

/** Gives a new member a role in the projects that are still there. */
export const joinProjects = (
  orgId: string,
  memberId: string,
  projectIds: readonly string[],
  role: 'contributor' | 'viewer',
): Query<unknown> =>
  sqlQuery(
    `insert into project_members (org_id, project_id, member_id, role)
     select p.org_id, p.id, $2, $4 from projects p where p.org_id = $1 and p.id = any ($3::uuid[])
     order by p.id for key share`,
    [orgId, memberId, projectIds, role],
  );
