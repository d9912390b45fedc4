import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { clearViewedStory, listOnlookers, setViewedStory } from '../../data/selections.ts';
import { getStory } from '../../data/stories.ts';

export const select = handle(
  boardRegistry.stories.select,
  async ({ params, targetId, caller, db, access }) => {
    const { storyId, deviceId = '' } = params;
    const { memberId } = caller;
    if (storyId === null) {
      db.deferToCommit(clearViewedStory(memberId, deviceId));
      return { selection: { storyId: null, since: null }, others: [] };
    }
    const [{ at }, story, others] = await Promise.all([
      access(),
      getStory(db, targetId),
      listOnlookers(db, targetId, memberId),
    ]);
    db.deferToCommit(setViewedStory(memberId, deviceId, story.id, at));
    return { selection: { storyId: story.id, since: at }, others };
  },
);
