import { toUpstream } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { changedFields, handle } from '@muster/runtime';
import { toStoryEventSubject, lockStory, stories, toStory } from '../../data/stories.ts';

export const updateUpstream = handle(
  boardRegistry.stories.updateUpstream,
  async ({ params, targetId, db, access, emit }) => {
    const [{ at }, story] = await Promise.all([access(), lockStory(db, targetId)]);
    const upstream = params.upstream && toUpstream(params.upstream);
    if (changedFields({ upstream: story.upstream }, { upstream }).length === 0)
      return { story: toStory(story) };
    const changed = stories.save(db, story, { upstream }, at);
    // If another story has this upstream, the write above violates a unique index and the call fails with
    // already_exists.
    emit('story.upstreamUpdated', toStoryEventSubject(story), {
      provider: upstream?.provider ?? null,
      externalId: upstream?.externalId ?? null,
    });
    return { story: toStory(changed) };
  },
);
