/** Creates a team with members, and optionally with a project, for specs. It writes the tables directly. */
import { newId } from '@muster/driver';
import { type ProjectRole } from '@muster/contract';

interface TeamSetUp {
  readonly name?: string;
  readonly members?: readonly { readonly me: { readonly memberId: string } }[];
  /** The project that the team is assigned to, and its role there. */
  readonly projectRole?: { readonly projectId: string; readonly role: ProjectRole };
}

/** Creates a team in an organization and returns its ID. `rows` is the function of the test world. */
export async function arrangeTeam(
  { rows }: { rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]> },
  orgId: string,
  { name = 'Platform', members = [], projectRole: on }: TeamSetUp = {},
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
