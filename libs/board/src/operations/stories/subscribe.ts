import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { setSubscription } from '../../data/subscriptions.ts';

export const subscribe = handle(boardRegistry.stories.subscribe, async ({ params, targetId, caller, db }) => {
  const { subscribed } = params;
  const { story_id: storyId } = await db.one(setSubscription(targetId, caller.memberId, subscribed));
  return { subscription: { storyId, subscribed } };
});
