import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findLiveLease } from '../../data/live-leases.ts';
import { lockMove } from '../../data/ranks.ts';
import { toStoryEventSubject, deleteStory } from '../../data/stories.ts';
import { findOpenGroupOfStory } from '../../data/targets.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(registry.stories.delete, async ({ targetId, db, emit, refuse }) => {
  // The deletion updates the counts of the column and of canceled stories, as a move does.
  const { story } = await lockMove(db, targetId, {});
  // The lease and the group are read after the story was locked. Every call that acquires a lease locks the
  // story first, too.
  const [lease, group] = await Promise.all([findLiveLease(db, story.id), findOpenGroupOfStory(db, story.id)]);
  if (lease !== undefined) throw refuse('lease_held', { ...lease, retryable: false });
  for (const query of deleteStory(story.id)) db.deferToCommit(query);
  emit('story.deleted', toStoryEventSubject(story), {});
  if (group !== undefined) emit('group.storiesReplaced', group, { added: [], removed: [story.id] });
  return { deleted: true as const };
});
