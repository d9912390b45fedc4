import { ApiError, updateStoryStatus } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type HandlerContext } from '@muster/runtime';

/** Moves merged stories to done, as far as the board permits it. */
export async function moveStoriesToDone(
  { perform }: Pick<HandlerContext<typeof deliveryRegistry.deliveryExecutions.complete>, 'perform'>,
  storyIds: readonly string[],
): Promise<void> {
  for (const storyId of storyIds)
    await perform(updateStoryStatus, { storyId, status: 'done' }).catch((error: unknown) => {
      // A story that may not move, for example without its approvals, stays where it is. The merge is
      // recorded anyway.
      if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
    });
}
