import { ApiError, registry } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';

/** Moves the stories that a merge lands into done, those that can be. */
export async function landStories(
  { perform }: Pick<HandlerContext<typeof registry.deliveryExecutions.complete>, 'perform'>,
  storyIds: readonly string[],
): Promise<void> {
  for (const storyId of storyIds) {
    await perform(registry.stories.updateStatus, { storyId, status: 'done' }).catch((error: unknown) => {
      // Without its approvals, say, the story stays where it is; that it was merged is recorded all the same.
      if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
    });
  }
}
