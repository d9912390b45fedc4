/**
 * The stored policy contains only the fields that the organization set. Missing fields have the contract's
 * default.
 */
import { isMergeProofSet, Policy } from '@muster/contract';

export type StoredPolicy = Readonly<Record<string, unknown>>;

/** The changes of a policy: undefined keeps a field, and null resets it to the default. */
export type PolicyChanges = { readonly [Field in keyof Policy]?: Policy[Field] | null | undefined };

/** Returns the stored policy after the changes. */
export function applyPolicyChanges(storedPolicy: StoredPolicy, changes: PolicyChanges): StoredPolicy {
  const wanted = Object.entries(changes).filter(([, value]) => value !== undefined);
  const kept = Object.entries({ ...storedPolicy, ...Object.fromEntries(wanted) });
  return Object.fromEntries(kept.filter(([, value]) => value !== null));
}

/**
 * Returns the stored policy with its defaults, in a form in which two policies can be compared. A mergeProof
 * that was never set is null, because setting it to its default counts as a change.
 */
export const toComparablePolicy = (storedPolicy: StoredPolicy) => {
  const policy = Policy.parse(storedPolicy);
  return { ...policy, mergeProof: isMergeProofSet(storedPolicy) ? policy.mergeProof : null };
};

/** Returns the rules of the policy that contradict each other, for `details.unmet`. */
export const findPolicyContradictions = ({ defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Policy) =>
  defaultLeaseTtlSeconds > maxLeaseTtlSeconds
    ? [{ gate: 'maxLeaseTtlSeconds' as const, maxLeaseTtlSeconds, defaultLeaseTtlSeconds }]
    : [];

/**
 * Returns whether the requested audit retention exceeds the plan. A reset to the default is always allowed,
 * because the plan limits the default, too.
 */
export const exceedsAuditRetention = (
  requestedDays: number | null | undefined,
  maxDaysOfPlan: number | null,
): boolean => requestedDays != null && maxDaysOfPlan !== null && requestedDays > maxDaysOfPlan;
