import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { deleteStory } from '../../data/deleted-stories.ts';
import { findLiveLease } from '../../data/live-leases.ts';
import { lockProjectCounters } from '../../data/project-counters.ts';
import { lockMove } from '../../data/ranks.ts';
import { lockChildren } from '../../data/story-parents.ts';
import { toStoryEventSubject } from '../../data/stories.ts';
import { findOpenGroupOfStory } from '../../data/targets.ts';
import { closeFormerParent } from './close-parent.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(boardRegistry.stories.delete, async (context) => {
  const { targetId, caller, db, policy: askPolicy, emit, refuse } = context;
  // The deletion updates the counts of the column and of canceled stories, as a move does.
  // The project's counters are locked as well, so that no other call adds a child.
  const [policy, , { story }] = await Promise.all([
    askPolicy(),
    db.find(lockProjectCounters(targetId)),
    lockMove(db, targetId, { leavesParent: true }),
  ]);
  // The lease and the group are read after the story was locked. Every call that acquires a lease locks the
  // story first, too.
  const [lease, group, children] = await Promise.all([
    findLiveLease(db, story.id),
    findOpenGroupOfStory(db, story.id),
    lockChildren(db, story.id),
  ]);
  if (lease !== undefined) throw refuse('lease_held', { ...lease, retryable: false });
  for (const query of deleteStory(story.id, caller.actor)) db.deferToCommit(query);
  for (const child of children) emit('story.updated', toStoryEventSubject(child), { fields: ['parentId'] });
  emit('story.deleted', toStoryEventSubject(story), {});
  if (group !== undefined) emit('group.storiesReplaced', group, { added: [], removed: [story.id] });
  await closeFormerParent(context, story, policy);
  return { deleted: true as const };
});
