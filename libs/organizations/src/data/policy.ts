/** The columns of the organization's row that hold its policy. */
import { type Db, type DB, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { effectivePolicy, type Plan, type PolicyRecord } from '@muster/contract';
import { hasLinkedRepository } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { type StoredPolicy } from '../rules/policy-changes.ts';

type PolicyRow = Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

export const toPolicy = (row: PolicyRow, hasRepositoryLink: boolean): PolicyRecord => ({
  ...effectivePolicy(row.policy, hasRepositoryLink),
  version: row.policy_version,
});

/**
 * Returns the effective policy. The default of `mergeProof` depends on whether a repository is linked to
 * the call's project or, without a project, to any project.
 */
export async function getPolicy(db: Db): Promise<PolicyRecord> {
  const row = await db.one(
    sql<PolicyRow & { isLinked: boolean }>`select policy, policy_version, ${hasLinkedRepository} as "isLinked"
       from orgs where id = ${currentOrgId}`,
  );
  return toPolicy(row, row.isLinked);
}

export const isRepositoryLinked = async (db: Db): Promise<boolean> =>
  (await db.one(sql<{ isLinked: boolean }>`select ${hasLinkedRepository} as "isLinked"`)).isLinked;

/**
 * Returns the statement that stores the policy of the current organization. The caller must hold the lock on
 * the organization's row.
 */
export const setPolicy = (policy: StoredPolicy, version: number): Query<unknown> =>
  sql`update orgs set policy = ${policy}, policy_version = ${version} where id = ${currentOrgId}`;

export const getPlan = async (db: Db): Promise<Plan> =>
  (
    await db.one(
      sql<Pick<Selectable<DB['subscriptions']>, 'plan'>>`select plan from subscriptions where ${orgFilter()}`,
    )
  ).plan;
