/** The policy of an organization: what it set, beside its row. */
import { type Db, type DB, of, organization, type Query, sql } from '@muster/database';
import { type Plan, Policy, type PolicyRecord } from '@muster/registry';
import { type Selectable } from 'kysely';
import { type StoredPolicy } from '../rules/policy-changes.ts';

type PolicyRow = Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

export const toPolicy = (row: PolicyRow): PolicyRecord => ({
  ...Policy.parse(row.policy),
  version: row.policy_version,
});

export const getPolicy = async (db: Db): Promise<PolicyRecord> =>
  toPolicy(
    await db.one(
      sql<
        Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>
      >`select policy, policy_version from orgs where id = ${organization}`,
    ),
  );

/** Writes what a locked organization set of its policy. */
export const setPolicy = (policy: StoredPolicy, version: number): Query<unknown> =>
  sql`update orgs set policy = ${policy}, policy_version = ${version} where id = ${organization}`;

export const getPlan = async (db: Db): Promise<Plan> =>
  (
    await db.one(
      sql<Pick<Selectable<DB['subscriptions']>, 'plan'>>`select plan from subscriptions where ${of()}`,
    )
  ).plan;
