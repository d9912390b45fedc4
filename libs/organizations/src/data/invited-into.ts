/** The teams and projects that an invited person joins. */
import { type Db, orgFilter, type Query, sql } from '@muster/driver';
import { pathNotFound } from '@muster/contract';

/** Returns the ids without duplicates. Throws 404 unless the organization has all of these teams. */
export async function requireTeamIds(db: Db, teamIds: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(teamIds)];
  if (wanted.length === 0) return [];
  const rows = await db.all(
    sql<{ id: string }>`select id from teams where ${orgFilter()} and id = any (${wanted}::uuid[])`,
  );
  const found = new Set(rows.map(({ id }) => id));
  const missing = teamIds.findIndex((id) => !found.has(id));
  if (missing !== -1) throw pathNotFound(`teamIds.${missing}`);
  return wanted;
}

/** Adds a new member to each of the given teams that still exists. */
export const addMemberToTeams = (memberId: string, teamIds: readonly string[]): Query<unknown> =>
  sql`insert into team_members (org_id, team_id, member_id, role)
     select t.org_id, t.id, ${memberId}, 'member' from teams t where ${orgFilter('t')} and t.id = any (${teamIds}::uuid[])
     order by t.id for key share`;

/** Gives a new member a role in each of the given projects that still exists. */
export const addMemberToProjects = (
  memberId: string,
  projectIds: readonly string[],
  role: 'contributor' | 'viewer',
): Query<unknown> =>
  sql`insert into project_members (org_id, project_id, member_id, role)
     select p.org_id, p.id, ${memberId}, ${role} from projects p where ${orgFilter('p')} and p.id = any (${projectIds}::uuid[])
     order by p.id for key share`;
