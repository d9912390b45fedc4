import { ApiError, type Policy, registry, type Warning } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { findParentToClose } from '../../data/story-parents.ts';
import { type StoryRow } from '../../data/stories.ts';

/**
 * Moves the parent of a finished story to done if the policy says so and no other child is open. The parent
 * passes its own gates. If they refuse it, it stays where it is, and the result is a warning.
 */
export async function closeParent(
  { db, perform }: Pick<HandlerContext<typeof registry.stories.reorder>, 'db' | 'perform'>,
  child: StoryRow,
  policy: Policy,
): Promise<Warning[]> {
  if (!policy.closeParents || child.parent_id === null) return [];
  const parent = await findParentToClose(db, child);
  if (parent === undefined) return [];
  try {
    const { warnings } = await perform(registry.stories.updateStatus, { storyId: parent.id, status: 'done' });
    return warnings.map((warning) => ({ ...warning, message: `${parent.key}: ${warning.message}` }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
    const message = `All children of ${parent.key} are finished, but it stays open (${describeRefusal(error)}).`;
    return [{ code: 'parent_open', message, columnId: parent.column_id }];
  }
}

/** Names the gates that are not met, or the reason of any other refusal. */
function describeRefusal({ details }: ApiError): string {
  const { reason, unmet } = details;
  const gates = Array.isArray(unmet) ? (unmet as readonly { readonly gate: string }[]) : [];
  return [reason, ...gates.map(({ gate }) => gate)].join(': ');
}
