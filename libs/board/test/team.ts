/** For specs: a team with its members, and on a project if wanted, written straight into the tables. */
import { newId } from '@muster/driver';
import { type ProjectRole } from '@muster/registry';

interface TeamSetUp {
  readonly name?: string;
  readonly members?: readonly { readonly me: { readonly memberId: string } }[];
  /** The project that it is assigned to, with this role. */
  readonly on?: { readonly projectId: string; readonly role: ProjectRole };
}

/** Arranges a team in an organization and answers its id; `rows` is the world's. */
export async function arrangeTeam(
  { rows }: { rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]> },
  orgId: string,
  { name = 'Platform', members = [], on }: TeamSetUp = {},
): Promise<string> {
  const teamId = newId();
  await rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, teamId, name);
  await rows(
    `insert into team_members (org_id, team_id, member_id, role) select $1, $2, unnest($3::uuid[]), 'member'`,
    orgId,
    teamId,
    members.map(({ me }) => me.memberId),
  );
  if (on !== undefined) {
    await rows(
      'insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, $4)',
      orgId,
      on.projectId,
      teamId,
      on.role,
    );
  }
  return teamId;
}
