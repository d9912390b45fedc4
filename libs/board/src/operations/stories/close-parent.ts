import { ApiError, type Policy, type Warning } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type HandlerContext } from '@muster/runtime';
import { findParentToClose } from '../../data/story-parents.ts';
import { type StoryRow } from '../../data/stories.ts';
import { isFinished } from '../../rules/workflow.ts';

type CloseParentContext = Pick<HandlerContext<typeof boardRegistry.stories.reorder>, 'db' | 'perform'>;
type Child = Pick<StoryRow, 'id' | 'parent_id' | 'status'>;

/**
 * Moves the parent of a finished story to done if the policy says so and no other child is open. The parent
 * passes its own gates. If they refuse it, it stays where it is, and the result is a warning. The caller has
 * locked the columns that the parent's move changes, as lockMove does.
 */
export async function closeParent(
  { db, perform }: CloseParentContext,
  child: Child,
  policy: Policy,
): Promise<Warning[]> {
  if (!policy.closeParents || child.parent_id === null) return [];
  const parent = await findParentToClose(db, child);
  if (parent === undefined) return [];
  try {
    const { warnings } = await perform(boardRegistry.stories.updateStatus, {
      storyId: parent.id,
      status: 'done',
    });
    return warnings.map((warning) => ({ ...warning, message: `${parent.key}: ${warning.message}` }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
    const message = `All children of ${parent.key} are finished, but it stays open (${describeRefusal(error)}).`;
    return [{ code: 'parent_open', message, columnId: parent.column_id }];
  }
}

/**
 * Closes the parent that an open story leaves because it is deleted or gets another parent. For the parent this
 * is as if the story was canceled.
 */
export async function closeFormerParent(
  context: CloseParentContext,
  child: Child,
  policy: Policy,
): Promise<void> {
  if (!isFinished(child.status)) await closeParent(context, { ...child, status: 'canceled' }, policy);
}

/** Names the gates that are not met, or the reason of any other refusal. */
function describeRefusal({ details }: ApiError): string {
  const { reason, unmet } = details;
  const gates = Array.isArray(unmet) ? (unmet as readonly { readonly gate: string }[]) : [];
  return [reason, ...gates.map(({ gate }) => gate)].join(': ');
}
