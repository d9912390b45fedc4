/** The policy of an organization: what it set, beside its row. */
import { type Db, type DB, type Param, type Query, query, statement } from '@muster/database';
import { type Plan, Policy, type PolicyRecord } from '@muster/registry';
import { type Selectable } from 'kysely';
import { type StoredPolicy } from '../rules/policy-changes.ts';

type PolicyRow = Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

export const toPolicy = (row: PolicyRow): PolicyRecord => ({
  ...Policy.parse(row.policy),
  version: row.policy_version,
});

const policyOf = statement((param: Param<{ orgId: string }>) =>
  query.selectFrom('orgs').select(['policy', 'policy_version']).where('id', '=', param('orgId')),
);

export const getPolicy = async (db: Db, orgId: string): Promise<PolicyRecord> =>
  toPolicy(await db.one(policyOf({ orgId })));

/** Writes what a locked organization set of its policy. */
export const setPolicy = (orgId: string, policy: StoredPolicy, version: number): Query<unknown> =>
  query.updateTable('orgs').set({ policy, policy_version: version }).where('id', '=', orgId);

const planOf = statement((param: Param<{ orgId: string }>) =>
  query.selectFrom('subscriptions').select('plan').where('org_id', '=', param('orgId')),
);

export const getPlan = async (db: Db, orgId: string): Promise<Plan> => (await db.one(planOf({ orgId }))).plan;
