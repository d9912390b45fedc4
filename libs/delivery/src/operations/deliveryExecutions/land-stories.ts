import { ApiError } from '@muster/contract';
import { registry } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';

/** Moves merged stories to done, as far as the board permits it. */
export async function moveStoriesToDone(
  { perform }: Pick<HandlerContext<typeof registry.deliveryExecutions.complete>, 'perform'>,
  storyIds: readonly string[],
): Promise<void> {
  for (const storyId of storyIds)
    await perform(registry.stories.updateStatus, { storyId, status: 'done' }).catch((error: unknown) => {
      // A story that may not move, for example without its approvals, stays where it is. The merge is
      // recorded anyway.
      if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
    });
}
