import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { clearSelection, listOnlookers, setSelection } from '../../data/selections.ts';
import { getStory } from '../../data/stories.ts';

export const select = handle(registry.stories.select, async ({ params, targetId, caller, db, access }) => {
  const { storyId, deviceId = '' } = params;
  const { memberId } = caller;
  if (storyId === null) {
    db.later(clearSelection(memberId, deviceId));
    return { selection: { storyId: null, since: null }, others: [] };
  }
  const [{ at }, story, others] = await Promise.all([
    access(),
    getStory(db, targetId),
    listOnlookers(db, targetId, memberId),
  ]);
  db.later(setSelection(memberId, deviceId, story.id, at));
  return { selection: { storyId: story.id, since: at }, others };
});
