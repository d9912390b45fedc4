/** The workflow of a story: its possible moves, and the policy's gates for entering a status. */
import {
  type AttachmentKind,
  type Policy,
  type StoryStatus,
  type Trust,
  type UnmetMergeProof,
  unmetMergeProof,
} from '@muster/contract';

/** The statuses that a story may move to from each status. The diagrams in the docs use this table, too. */
export const workflow: Readonly<Record<StoryStatus, readonly StoryStatus[]>> = {
  backlog: ['ready', 'in_progress', 'in_review', 'done', 'canceled'],
  ready: ['backlog', 'in_progress', 'in_review', 'done', 'canceled'],
  in_progress: ['backlog', 'ready', 'in_review', 'done', 'canceled'],
  in_review: ['backlog', 'ready', 'in_progress', 'done', 'canceled'],
  done: ['backlog', 'ready', 'in_progress'],
  canceled: ['backlog', 'ready', 'in_progress'],
};

/** Reports whether the workflow contains this move. Staying in a status is not a move. */
export const canMove = (from: StoryStatus, to: StoryStatus): boolean => workflow[from].includes(to);

/** Reports whether a story of this status is completed. It can only leave the status by being reopened. */
export const isFinished = (status: StoryStatus): boolean => status === 'done' || status === 'canceled';

/** The facts that gates depend on. A verdict is fresh while it is about the current spec and code. */
export interface GateFacts {
  /** True if the spec has content. */
  readonly hasSpec: boolean;
  readonly freshApprovals: number;
  readonly freshChangesRequested: number;
  /** The strongest proof of a merge since work on the story last began; null without such a merge. */
  readonly mergeTrust: Trust | null;
  /** The kinds of evidence that are fresh. Test reports with failures are left out. */
  readonly freshEvidence: ReadonlySet<AttachmentKind>;
  /** True if an agent requests the move. */
  readonly isAgent: boolean;
}

/** The facts of a story without work and without verdicts. */
export const noGateFacts: Omit<GateFacts, 'hasSpec'> = {
  freshApprovals: 0,
  freshChangesRequested: 0,
  mergeTrust: null,
  freshEvidence: new Set(),
  isAgent: false,
};

/** A gate that is not met, with what it requires. The error contains it in `details.unmet`. */
export type UnmetGate =
  | { readonly gate: 'requireSpecToStart' }
  | { readonly gate: 'requiredApprovals'; readonly required: number; readonly fresh: number }
  | { readonly gate: 'changesRequested'; readonly fresh: number }
  | UnmetMergeProof
  | { readonly gate: 'requireEvidence'; readonly missing: readonly AttachmentKind[] }
  | { readonly gate: 'agentsMayComplete' };

/**
 * Returns the gates that a story does not meet for a status. The list is empty if the story may enter the
 * status.
 */
export function findUnmetGates(
  targetStatus: StoryStatus,
  policy: Pick<
    Policy,
    | 'requireSpecToStart'
    | 'requiredApprovals'
    | 'requireMergeProof'
    | 'mergeProof'
    | 'requireEvidence'
    | 'agentsMayComplete'
  >,
  { hasSpec, freshApprovals, freshChangesRequested, mergeTrust, freshEvidence, isAgent }: GateFacts,
): UnmetGate[] {
  const unmet: UnmetGate[] = [];
  if (targetStatus === 'in_progress' && policy.requireSpecToStart && !hasSpec)
    unmet.push({ gate: 'requireSpecToStart' });
  if (targetStatus !== 'done') return unmet;
  if (freshApprovals < policy.requiredApprovals)
    unmet.push({ gate: 'requiredApprovals', required: policy.requiredApprovals, fresh: freshApprovals });
  if (freshChangesRequested > 0) unmet.push({ gate: 'changesRequested', fresh: freshChangesRequested });
  const proof = unmetMergeProof(policy, mergeTrust);
  if (proof !== undefined) unmet.push(proof);
  const missing = policy.requireEvidence.filter((kind) => !freshEvidence.has(kind));
  if (missing.length > 0) unmet.push({ gate: 'requireEvidence', missing });
  if (isAgent && !policy.agentsMayComplete) unmet.push({ gate: 'agentsMayComplete' });
  return unmet;
}

/** Compares a column's count after one more story with its limit. */
export function compareWithWipLimit(
  column: { readonly wipLimit: number | null; readonly storyCount: number },
  mode: Policy['wipLimits'],
): 'fine' | 'warn' | 'refuse' {
  if (mode === 'off' || column.wipLimit === null || column.storyCount < column.wipLimit) return 'fine';
  return mode === 'block' ? 'refuse' : 'warn';
}
