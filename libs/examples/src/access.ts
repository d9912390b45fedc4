/**
 * Writes the records that the examples of project access name: a member and a team of WEB, and a member who
 * requests access.
 */
import { type Makers } from '@muster/testing/world';

export const accessIds = {
  member: '01936d5c-0000-7000-8000-000000000040',
  applicant: '01936d5c-0000-7000-8000-000000000041',
  team: '01936d5c-0000-7000-8000-000000000042',
  accessRequest: '01936d5c-0000-7000-8000-000000000043',
} as const;

interface AccessSetUp {
  readonly orgId: string;
  readonly projectId: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts a member, a team, an applicant and an access request. Returns the id of the access request. */
export async function arrangeAccess(
  world: Makers,
  { orgId, projectId, idOf }: AccessSetUp,
): Promise<{ accessRequest: string }> {
  const [member, applicant] = [idOf(accessIds.member), idOf(accessIds.applicant)];
  const [team, accessRequest] = [idOf(accessIds.team), idOf(accessIds.accessRequest)];
  await world.rows(
    `insert into members (org_id, id, email, name, handle, role)
     select $1, m.id, m.handle || '@example.com', m.name, m.handle, 'member'
     from unnest($2::uuid[], $3::text[], $4::text[]) m (id, name, handle)`,
    orgId,
    [member, applicant],
    ['Pia', 'Avi'],
    ['pia', 'avi'],
  );
  await world.rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'contributor')`,
    orgId,
    projectId,
    member,
  );
  await world.rows(`insert into teams (org_id, id, name) values ($1, $2, 'Platform of WEB')`, orgId, team);
  await world.rows(
    `insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, 'contributor')`,
    orgId,
    projectId,
    team,
  );
  await world.rows(
    `insert into access_requests (org_id, id, project_id, member_id, role) values ($1, $2, $3, $4, 'contributor')`,
    orgId,
    accessRequest,
    projectId,
    applicant,
  );
  return { accessRequest };
}
