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

/** The prefix of the keys of verified facts. Keys that tokens write never have it. */
export const verifiedKeys = 'verified:';

type ProofPolicy = Pick<Policy, 'requireMergeProof' | 'mergeProof'>;

/** Returns true if only a merge that the forge itself reported counts. */
export const needsVerifiedMerge = ({ requireMergeProof, mergeProof }: ProofPolicy): boolean =>
  requireMergeProof && mergeProof === 'verified';

/** Returns true if a merge with this trust counts. */
export const mergeCounts = (policy: ProofPolicy, trust: Trust): boolean =>
  trust === 'verified' || !needsVerifiedMerge(policy);

/**
 * Returns the code of a caller's report as it counts for verdicts. If the forge must prove a merge, the diff
 * hash of a caller is no proof of unchanged code. Then the head commit decides.
 */
export const codeThatCounts = <Said extends { readonly diffHash?: string | null | undefined }>(
  { mergeProof }: Pick<Policy, 'mergeProof'>,
  said: Said,
): Said => (mergeProof === 'verified' ? { ...said, diffHash: undefined } : said);

/**
 * The missing proof, as `details.unmet` states it. `seen` is the highest trust of any report of the merge;
 * null if there is none.
 */
export interface UnmetMergeProof {
  readonly gate: 'requireMergeProof';
  /** Present only if a report is not sufficient. */
  readonly needs?: 'verified';
  readonly seen?: Trust | null;
}

/** Returns the missing proof, or undefined if nothing is missing. */
export function unmetMergeProof(policy: ProofPolicy, seen: Trust | null): UnmetMergeProof | undefined {
  if (!policy.requireMergeProof || (seen !== null && mergeCounts(policy, seen))) return undefined;
  return needsVerifiedMerge(policy)
    ? { gate: 'requireMergeProof', needs: 'verified', seen }
    : { gate: 'requireMergeProof' };
}
