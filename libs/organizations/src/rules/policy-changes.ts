/** The policy is kept as what was set of it; what is absent has the contract's default. */
import { isMergeProofSet, Policy } from '@muster/registry';

export type StoredPolicy = Readonly<Record<string, unknown>>;

/** Undefined: as it is; null: back to the default. */
export type PolicyChanges = { readonly [Field in keyof Policy]?: Policy[Field] | null | undefined };

/** What is kept after the changes. */
export function withPolicyChanges(stored: StoredPolicy, changes: PolicyChanges): StoredPolicy {
  const wanted = Object.entries(changes).filter(([, value]) => value !== undefined);
  const kept = Object.entries({ ...stored, ...Object.fromEntries(wanted) });
  return Object.fromEntries(kept.filter(([, value]) => value !== null));
}

/** The policy with null for a mergeProof that was never set, because setting it to its default is a change. */
export const comparable = (stored: StoredPolicy) => {
  const policy = Policy.parse(stored);
  return { ...policy, mergeProof: isMergeProofSet(stored) ? policy.mergeProof : null };
};

/** Rules of the policy that contradict each other; goes out as `details.unmet`. */
export const contradictions = ({ defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Policy) =>
  defaultLeaseTtlSeconds > maxLeaseTtlSeconds
    ? [{ gate: 'maxLeaseTtlSeconds' as const, maxLeaseTtlSeconds, defaultLeaseTtlSeconds }]
    : [];

/** Whether more days of audit are wanted than the plan keeps. Going back to the default always fits: the plan cuts it. */
export const isAuditTooLong = (wanted: number | null | undefined, planDays: number | null): boolean =>
  wanted != null && planDays !== null && wanted > planDays;
