/**
 * The rules for the proof that work was merged. Executions, stories and groups check them before they become
 * done.
 */
import { z } from 'zod';
import { type Policy } from './org.ts';

/**
 * The source of a fact about the forge. Members and agents report it; a verified fact was signed by the
 * forge, and no token can write it.
 */
export const Trust = z.enum(['reported', 'verified']);
export type Trust = z.infer<typeof Trust>;

/** The prefix of the deduplication keys of verified facts. A key that a token writes never has it. */
export const verifiedDedupeKeyPrefix = 'verified:';

type ProofPolicy = Pick<Policy, 'requireMergeProof' | 'mergeProof'>;

/** Returns true if the policy accepts only a merge that the forge itself reported. */
export const needsVerifiedMerge = ({ requireMergeProof, mergeProof }: ProofPolicy): boolean =>
  requireMergeProof && mergeProof === 'verified';

/** Returns true if a report of a merge with this trust proves the merge under this policy. */
export const isMergeProven = (policy: ProofPolicy, trust: Trust): boolean =>
  trust === 'verified' || !needsVerifiedMerge(policy);

/**
 * Returns the caller's report of code with only the facts that count for verdicts. If the forge must prove a
 * merge, a caller's diff hash is no proof of unchanged code. The head commit decides in that case.
 */
export const trustedCodeReport = <Said extends { readonly diffHash?: string | null | undefined }>(
  { mergeProof }: Pick<Policy, 'mergeProof'>,
  report: Said,
): Said => (mergeProof === 'verified' ? { ...report, diffHash: undefined } : report);

/**
 * The missing proof of a merge, as `details.unmet` states it. `seen` is the highest trust of any report of
 * the merge; null if there is none.
 */
export interface UnmetMergeProof {
  readonly gate: 'requireMergeProof';
  /** Present only if a member's or agent's report of the merge is not sufficient. */
  readonly needs?: 'verified';
  readonly seen?: Trust | null;
}

/** Returns the proof of the merge that is missing, or undefined if none is missing. */
export function unmetMergeProof(policy: ProofPolicy, seen: Trust | null): UnmetMergeProof | undefined {
  if (!policy.requireMergeProof || (seen !== null && isMergeProven(policy, seen))) return undefined;
  return needsVerifiedMerge(policy)
    ? { gate: 'requireMergeProof', needs: 'verified', seen }
    : { gate: 'requireMergeProof' };
}
