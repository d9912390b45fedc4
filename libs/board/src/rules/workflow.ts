/** The workflow of a story: which moves there are, and what the organization's policy asks for on the way in. */
import {
  type Policy,
  type StoryStatus,
  type Trust,
  type UnmetMergeProof,
  unmetMergeProof,
} from '@muster/registry';

/** From each status, the ones a story may move to. The only statement of it: diagrams are drawn from this too. */
export const workflow: Readonly<Record<StoryStatus, readonly StoryStatus[]>> = {
  backlog: ['ready', 'in_progress', 'in_review', 'done', 'canceled'],
  ready: ['backlog', 'in_progress', 'in_review', 'done', 'canceled'],
  in_progress: ['backlog', 'ready', 'in_review', 'done', 'canceled'],
  in_review: ['backlog', 'ready', 'in_progress', 'done', 'canceled'],
  done: ['backlog', 'ready', 'in_progress'],
  canceled: ['backlog', 'ready', 'in_progress'],
};

/** Whether the workflow has this move. Staying where it is, is none. */
export const canMove = (from: StoryStatus, to: StoryStatus): boolean => workflow[from].includes(to);

/** Whether a story of this status is completed: only a reopening leads on from it. */
export const isFinished = (status: StoryStatus): boolean => status === 'done' || status === 'canceled';

/** What gates are judged by. A verdict is fresh while it is about the spec and the code as they are now. */
export interface Gates {
  /** That its spec says something. */
  readonly hasSpec: boolean;
  readonly freshApprovals: number;
  readonly freshChangesRequested: number;
  /** The best word that there is of a merge of the work on it, since which no work was begun; null: there is none. */
  readonly mergeSeen: Trust | null;
  /** Whether an agent wants the move. */
  readonly isAgent: boolean;
}

/** Of a story on which no work was begun, and of which no reviewer said anything. */
export const nothingShown: Omit<Gates, 'hasSpec'> = {
  freshApprovals: 0,
  freshChangesRequested: 0,
  mergeSeen: null,
  isAgent: false,
};

/** A gate that is shut, and what would open it; goes out as `details.unmet`. */
export type Unmet =
  | { readonly gate: 'requireSpecToStart' }
  | { readonly gate: 'requiredApprovals'; readonly required: number; readonly fresh: number }
  | { readonly gate: 'changesRequested'; readonly fresh: number }
  | UnmetMergeProof
  | { readonly gate: 'agentsMayComplete' };

/** What is missing for a story to enter a status; empty when it may. */
export function unmetGates(
  to: StoryStatus,
  policy: Pick<
    Policy,
    'requireSpecToStart' | 'requiredApprovals' | 'requireMergeProof' | 'mergeProof' | 'agentsMayComplete'
  >,
  { hasSpec, freshApprovals, freshChangesRequested, mergeSeen, isAgent }: Gates,
): Unmet[] {
  const unmet: Unmet[] = [];
  if (to === 'in_progress' && policy.requireSpecToStart && !hasSpec) {
    unmet.push({ gate: 'requireSpecToStart' });
  }
  if (to !== 'done') return unmet;
  if (freshApprovals < policy.requiredApprovals) {
    unmet.push({ gate: 'requiredApprovals', required: policy.requiredApprovals, fresh: freshApprovals });
  }
  if (freshChangesRequested > 0) unmet.push({ gate: 'changesRequested', fresh: freshChangesRequested });
  const proof = unmetMergeProof(policy, mergeSeen);
  if (proof !== undefined) unmet.push(proof);
  if (isAgent && !policy.agentsMayComplete) unmet.push({ gate: 'agentsMayComplete' });
  return unmet;
}

/** How full a column would be with one story more, against its limit. */
export function wipVerdict(
  column: { readonly wipLimit: number | null; readonly storyCount: number },
  mode: Policy['wipLimits'],
): 'fine' | 'warn' | 'refuse' {
  if (mode === 'off' || column.wipLimit === null || column.storyCount < column.wipLimit) return 'fine';
  return mode === 'block' ? 'refuse' : 'warn';
}
