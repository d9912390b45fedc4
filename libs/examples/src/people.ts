/**
 * Writes the organization and the people of the examples: the slug acme; Mia, who leads the team Web; Timo,
 * who is in no team; a device.
 */
import { newId } from '@muster/driver';
import { type Operation } from '@muster/contract';
import { type People, type Person, type Makers } from '@muster/testing/world';

const exampleIds = {
  teamLead: '01936d5c-0000-7000-8000-000000000020',
  team: '01936d5c-0000-7000-8000-000000000021',
  newcomer: '01936d5c-0000-7000-8000-000000000022',
} as const;

interface PeopleSetUp {
  readonly orgId: string;
  readonly anaId: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangePeople(
  { rows }: Makers,
  { orgId, anaId, idOf }: PeopleSetUp,
): Promise<{ team: string }> {
  const lead = idOf(exampleIds.teamLead);
  const team = idOf(exampleIds.team);
  for (const [id, name] of [
    [lead, 'Mia'],
    [idOf(exampleIds.newcomer), 'Timo'],
  ] as const) {
    await rows(
      `insert into members (org_id, id, email, name, handle, role) values ($1, $2, lower($3) || '@example.com', $3, lower($3), 'member')`,
      orgId,
      id,
      name,
    );
  }
  // The key with which the example of devices.connectSlackAccount is signed.
  await rows(`update streams set cursor_key = decode(repeat('00', 32), 'hex') where org_id = $1`, orgId);
  await rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, team, 'Web');
  await rows(
    `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
    orgId,
    team,
    lead,
  );
  await rows(
    `insert into devices (org_id, member_id, device_id, id, name, platform, token_id)
     values ($1, $2, 'laptop-1', $3, 'Laptop', 'linux', (select t.id from tokens t where t.org_id = $1 and t.member_id = $2 limit 1))`,
    orgId,
    anaId,
    newId(),
  );
  return { team };
}

/**
 * Gives the organization the slug that the examples name. A slug is unique, so an organization that had it
 * loses it.
 */
export async function assignSlug({ rows }: Makers, orgId: string, slug: string): Promise<void> {
  await rows(`update orgs set slug = 'org-' || right(id::text, 12) where slug = $1`, slug);
  await rows('update orgs set slug = $2 where id = $1', orgId, slug);
}

/**
 * Returns the caller of the example, usually the owner. Leaving and requesting access need another member,
 * because an owner leads every project. Platform operations need an operator.
 */
export function exampleCallerOf(
  { name, access }: Operation,
  org: People & { readonly operator: Person },
): Person {
  if (access.kind === 'platform') return org.operator;
  return name === 'members.leave' || name === 'projects.requestAccess' ? org.chloe : org.ana;
}

/** Returns true if the call ends its caller's token, so that the caller cannot call again. */
export const endsCallerToken = ({ name }: Operation): boolean =>
  name === 'members.leave' || name === 'orgs.delete';
