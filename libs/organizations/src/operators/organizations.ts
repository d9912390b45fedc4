import { newId, currentOrgId, type Pool, sql } from '@muster/driver';
import { allNodes, chooseNode, createOnNode, groupByNode, type Node } from '@muster/placement';
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
} from '@muster/contract';
import { operatorTrailStatement } from '@muster/tenancy';
import { z } from 'zod';
import { insertMember } from '../data/members.ts';
import { orgs, type OrgRow, toOrg } from '../data/orgs.ts';
import { planLimits, defaultSeatsByPlan } from '../rules/entitlement.ts';
import { missingRecordError, runAsOperator, parseInput } from './operate.ts';

const NewOrganization = z.strictObject({
  name: OrgName,
  slug: OrgSlug,
  plan: z.enum(plans).default('free'),
  seats: z.int().min(1).max(1_000_000).optional(),
  owner: z.strictObject({ email: EmailAddress, name: MemberName }),
  node: z.string().optional(),
});

/**
 * Creates an organization with its owner. The plan defaults to `free`, the seats to those of the plan, and
 * the server to the one with the smallest database.
 */
export async function createOrganization(
  pool: Pool,
  input: z.input<typeof NewOrganization>,
): Promise<{ org: Org; owner: Member }> {
  const { name, slug, plan, owner, node, ...bought } = parseInput(NewOrganization, input);
  const seats = bought.seats ?? defaultSeatsByPlan[plan];
  const { seats: mostSeats } = planLimits(plan);
  if (mostSeats !== null && seats > mostSeats) throw refusal('limit_exceeded', { plan, mostSeats });
  const orgId = newId();
  const at = node === undefined ? await chooseNode(pool) : requireDatabaseNode(pool, node);
  const made = await createOnNode(at, { orgId, slug }, (there) =>
    runAsOperator(there, async (_db, within) => {
      const own = within(orgId);
      const org = await own.one(
        sql<OrgRow>`insert into orgs as o (id, slug, name) values (${currentOrgId}, ${slug}, ${name}) returning ${orgs.list}`,
      );
      await own.all(sql`insert into streams (org_id) values (${currentOrgId})`);
      await own.all(
        sql`insert into subscriptions (org_id, plan, seats, status) values (${currentOrgId}, ${plan}, ${seats}, 'active')`,
      );
      const member = await insertMember(own, { ...owner, role: 'owner' });
      own.deferToCommit(operatorTrailStatement('operators.createOrganization', slug));
      return { org: toOrg(org), owner: member };
    }),
  );
  if (made === undefined) throw refusal('already_exists');
  return made;
}

/** Finds the server with this name. */
export function requireDatabaseNode(pool: Pool, name: string): Node {
  const node = allNodes(pool).find((one) => one.name === name);
  if (node === undefined) throw missingRecordError(`node "${name}" in DATABASE_NODES`);
  return node;
}

export interface OrganizationSummary {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly seats: number;
  readonly createdAt: string;
  /** The name of the organization's server. */
  readonly node: string;
}

/** Lists all organizations, by slug. */
export async function listOrganizations(pool: Pool): Promise<OrganizationSummary[]> {
  const all: OrganizationSummary[] = [];
  for (const at of allNodes(pool)) {
    const rows = await runAsOperator(at.pool, (db) =>
      db.all(
        sql<
          Omit<OrganizationSummary, 'node'>
        >`select o.id, o.slug, o.name, s.plan, s.seats, o.created_at as "createdAt"
           from orgs o join subscriptions s on s.org_id = o.id where o.deleted_at is null order by o.slug`,
      ),
    );
    const here = (await groupByNode(pool, rows, ({ id }) => id, 0)).get(at.pool) ?? [];
    all.push(...here.map((row) => ({ ...row, node: at.name })));
  }
  return all.sort((a, b) => (a.slug < b.slug ? -1 : 1));
}
