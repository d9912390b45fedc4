/** What proves that work was merged: the one statement of it. The ways into done, of executions, stories and groups, ask it. */
import { z } from 'zod';
import { type Policy } from './org.ts';

/**
 * Who says what was seen on the forge. Members and agents report it; verified is what the forge signed itself, and no token
 * can write it.
 */
export const Trust = z.enum(['reported', 'verified']);
export type Trust = z.infer<typeof Trust>;

/** How the keys of verified facts begin; a token's never do. */
export const verifiedKeys = 'verified:';

type ProofPolicy = Pick<Policy, 'requireMergeProof' | 'mergeProof'>;

/** Whether only a merge that the forge itself told of counts. */
export const needsVerifiedMerge = ({ requireMergeProof, mergeProof }: ProofPolicy): boolean =>
  requireMergeProof && mergeProof === 'verified';

/** Whether a merge of this trust counts. */
export const mergeCounts = (policy: ProofPolicy, trust: Trust): boolean =>
  trust === 'verified' || !needsVerifiedMerge(policy);

/**
 * What a caller says of code, as it counts for verdicts. Where the forge has to prove a merge, a caller cannot prove by a hash
 * that the change is the same: the head decides.
 */
export const codeThatCounts = <Said extends { readonly diffHash?: string | null | undefined }>(
  { mergeProof }: Pick<Policy, 'mergeProof'>,
  said: Said,
): Said => (mergeProof === 'verified' ? { ...said, diffHash: undefined } : said);

/** What is missing, as `details.unmet` says it. `seen` is the best word there is of the merge; null: there is none. */
export interface UnmetMergeProof {
  readonly gate: 'requireMergeProof';
  /** Only where a report does not suffice. */
  readonly needs?: 'verified';
  readonly seen?: Trust | null;
}

/** What is missing of the proof, or undefined. */
export function unmetMergeProof(policy: ProofPolicy, seen: Trust | null): UnmetMergeProof | undefined {
  if (!policy.requireMergeProof || (seen !== null && mergeCounts(policy, seen))) return undefined;
  return needsVerifiedMerge(policy)
    ? { gate: 'requireMergeProof', needs: 'verified', seen }
    : { gate: 'requireMergeProof' };
}
