import { newId, operatorTrail, organization, type Pool, sql } from '@muster/database';
import {
  EmailAddress,
  type Member,
  MemberName,
  type Org,
  OrgName,
  OrgSlug,
  type Plan,
  plans,
  refusal,
} from '@muster/registry';
import { z } from 'zod';
import { setNewMember } from '../data/members.ts';
import { orgs, type OrgRow, toOrg } from '../data/orgs.ts';
import { planLimits, startingSeats } from '../rules/entitlement.ts';
import { operate, parseInput } from './operate.ts';

const NewOrganization = z.strictObject({
  name: OrgName,
  slug: OrgSlug,
  plan: z.enum(plans).default('free'),
  seats: z.int().min(1).max(1_000_000).optional(),
  owner: z.strictObject({ email: EmailAddress, name: MemberName }),
});

/** Makes an organization with its owner. Without a plan it is free; without seats it has what the plan starts with. */
export function createOrganization(
  pool: Pool,
  input: z.input<typeof NewOrganization>,
): Promise<{ org: Org; owner: Member }> {
  return operate(pool, async (_db, within) => {
    const { name, slug, plan, owner, ...bought } = parseInput(NewOrganization, input);
    const seats = bought.seats ?? startingSeats[plan];
    const { seats: mostSeats } = planLimits(plan);
    if (mostSeats !== null && seats > mostSeats) throw refusal('limit_exceeded', { plan, mostSeats });
    const orgId = newId();
    const own = within(orgId);
    const org = await own.one(
      sql<OrgRow>`insert into orgs as o (id, slug, name) values (${organization}, ${slug}, ${name}) returning ${orgs.list}`,
    );
    await own.all(sql`insert into streams (org_id) values (${organization})`);
    await own.all(
      sql`insert into subscriptions (org_id, plan, seats, status) values (${organization}, ${plan}, ${seats}, 'active')`,
    );
    const member = await setNewMember(own, { ...owner, role: 'owner' });
    own.later(operatorTrail('operators.createOrganization', slug));
    return { org: toOrg(org), owner: member };
  });
}

export interface OrganizationLine {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly seats: number;
  readonly createdAt: string;
}

/** All organizations, by slug. */
export function listOrganizations(pool: Pool): Promise<OrganizationLine[]> {
  return operate(pool, async (db) => {
    const rows = await db.all(
      sql<OrganizationLine>`select o.id, o.slug, o.name, s.plan, s.seats, o.created_at as "createdAt"
         from orgs o join subscriptions s on s.org_id = o.id where o.deleted_at is null order by o.slug`,
    );
    return rows;
  });
}
