import { requireVersion } from '@muster/driver';
import { Policy } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { changedFields, handle } from '@muster/runtime';
import { toOrgEventSubject, lockOrg } from '../../data/orgs.ts';
import { endSessionsViolatingPolicy, findUnprovenProviderIndexes } from '../../data/identity-providers.ts';
import { getPlan, isRepositoryLinked, setPolicy, toPolicy } from '../../data/policy.ts';
import { planLimits } from '../../rules/entitlement.ts';
import {
  toComparablePolicy,
  findPolicyContradictions,
  exceedsAuditRetention,
  applyPolicyChanges,
} from '../../rules/policy-changes.ts';

/** The fields of the policy with requirements for sessions, which the change may have tightened. */
const sessionPolicyFields = ['requirePasskey', 'allowedIdentityProviders'] as const;

export const update = handle(organizationsRegistry.policy.update, async ({ params, db, emit, refuse }) => {
  const { expectedVersion, ...changes } = params;
  const [org, plan, isLinked] = await Promise.all([lockOrg(db), getPlan(db), isRepositoryLinked(db)]);
  requireVersion({ version: org.policy_version }, expectedVersion);
  const stored = applyPolicyChanges(org.policy, changes);
  const wanted = Policy.parse(stored);
  const fields = changedFields(toComparablePolicy(org.policy), toComparablePolicy(stored));
  if (fields.length === 0) return { policy: toPolicy(org, isLinked) };
  const { auditRetentionDays: limit } = planLimits(plan);
  if (fields.includes('auditRetentionDays') && exceedsAuditRetention(changes.auditRetentionDays, limit))
    throw refuse('limit_exceeded', { plan, limit });
  const unmet = findPolicyContradictions(wanted);
  if (unmet.length > 0) throw refuse('policy', { unmet });
  if (fields.includes('allowedIdentityProviders')) {
    const places = await findUnprovenProviderIndexes(db, wanted.allowedIdentityProviders);
    if (places.length > 0)
      throw refuse('policy', { unmet: [{ gate: 'allowedIdentityProviders', unprovenAt: places }] });
  }

  const version = org.policy_version + 1;
  db.deferToCommit(setPolicy(stored, version));
  if (sessionPolicyFields.some((field) => fields.includes(field)))
    db.deferToCommit(endSessionsViolatingPolicy());
  emit('policy.updated', toOrgEventSubject(org), { fields });
  return { policy: toPolicy({ policy: stored, policy_version: version }, isLinked) };
});
