/** Decides what a plan does with each of its stories. The functions of this file neither read nor write data. */
import { type KeptField, type PlanKeepReason, type StoryStatus } from '@muster/contract';
import { type FieldMerge, type FieldValues, mergeFields, withoutUpdate } from './plan-merge.ts';
import { isFinished } from './workflow.ts';

/** A reason why a story cannot enter a status. */
export interface StatusObstacle {
  readonly reason: Extract<PlanKeepReason, 'invalid_transition' | 'policy' | 'wip_limit'>;
  readonly message: string;
}

/** A ref of the plan with the state of its story. */
export interface PlanCandidate {
  /** The values of the item; null if the plan no longer has the ref. */
  readonly planned: FieldValues | null;
  /** The values that the plan applied last; null for a new ref. */
  readonly base: FieldValues | null;
  /** The values of the story; null without a story. */
  readonly current: (FieldValues & { readonly status: StoryStatus }) | null;
  /** True if work on the story is not completed. */
  readonly isWorkedOn: boolean;
  /** `updatedFields` are the fields that the plan writes together with the status. */
  readonly findStatusObstacle: (
    target: StoryStatus,
    updatedFields: readonly string[],
  ) => StatusObstacle | undefined;
}

export type PlanDecision =
  | { readonly action: 'create'; readonly status: 'backlog' | 'ready'; readonly kept: readonly KeptField[] }
  | {
      readonly action: 'update' | 'unchanged' | 'keep';
      readonly merge: FieldMerge;
      readonly kept: readonly KeptField[];
    }
  /** The ref leaves the plan. `cancels` is true if its story is canceled, too. */
  | { readonly action: 'remove'; readonly cancels: boolean };

const messages = {
  changed: 'The field was changed on the board since the plan was last applied.',
  deleted: 'The record was deleted on the board.',
  worked_on: 'Someone works on the story.',
  new_story: 'New stories start in backlog or ready; apply the plan again to change the status.',
} as const;

export const keepField = (field: string, reason: keyof typeof messages): KeptField => ({
  ...{ field, reason, message: messages[reason] },
});

export function decidePlanItem(candidate: PlanCandidate): PlanDecision {
  const { planned, base, current } = candidate;
  if (planned === null) return decideRemoval(candidate);
  if (base === null) return decideStart(candidate, planned['status'] as StoryStatus | undefined);
  if (current === null)
    return { action: 'keep', merge: mergeFields(base, {}, {}), kept: [keepField('ref', 'deleted')] };
  let merge = mergeFields(base, planned, current);
  const kept = merge.kept.map((field) => keepField(field, 'changed'));
  if (merge.updated.includes('status')) {
    const obstacle = candidate.findStatusObstacle(planned['status'] as StoryStatus, merge.updated);
    if (obstacle !== undefined) {
      merge = withoutUpdate(merge, base, 'status');
      kept.push({ field: 'status', ...obstacle });
    }
  }
  if (merge.updated.length > 0) return { action: 'update', merge, kept };
  return { action: kept.length > 0 ? 'keep' : 'unchanged', merge, kept };
}

/** A story in progress counts as worked on even without an execution, because people work without one. */
function decideRemoval({ base, current, isWorkedOn }: PlanCandidate): PlanDecision {
  if (current === null || isFinished(current.status)) return { action: 'remove', cancels: false };
  if (isWorkedOn || current.status === 'in_progress' || current.status === 'in_review')
    return {
      action: 'keep',
      merge: mergeFields(base ?? {}, {}, {}),
      kept: [keepField('status', 'worked_on')],
    };
  return { action: 'remove', cancels: true };
}

function decideStart({ findStatusObstacle }: PlanCandidate, status: StoryStatus = 'backlog'): PlanDecision {
  if (status === 'backlog') return { action: 'create', status, kept: [] };
  if (status !== 'ready')
    return { action: 'create', status: 'backlog', kept: [keepField('status', 'new_story')] };
  const obstacle = findStatusObstacle(status, []);
  return obstacle === undefined
    ? { action: 'create', status, kept: [] }
    : { action: 'create', status: 'backlog', kept: [{ field: 'status', ...obstacle }] };
}
