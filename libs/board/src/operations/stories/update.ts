import { requireVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { replaceNull, handle } from '@muster/runtime';
import {
  resolveBlockerIds,
  wouldCreateCycle,
  deleteBlockers,
  findStories,
  insertBlockers,
} from '../../data/blockers.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { findMember, requireParticipant } from '../../data/participants.ts';
import { lockProjectCounters } from '../../data/project-counters.ts';
import { lockMove } from '../../data/ranks.ts';
import { toStoryEventSubject, lockStory, stories, toStory } from '../../data/stories.ts';
import { lockCurrentAndNewEpic } from '../../data/story-epics.ts';
import {
  findNamedParent,
  listChildKeys,
  requireParentInProject,
  requireTopLevelParent,
} from '../../data/story-parents.ts';
import { closeFormerParent } from './close-parent.ts';

export const update = handle(boardRegistry.stories.update, async (context) => {
  const { params, targetId, db, access, policy: askPolicy, emit, refuse } = context;
  const { storyId: _target, blocked, epicId, parentId, expectedVersion, ...plain } = params;
  const blockedBy = replaceNull(plain.blockedBy, []);
  const policy = parentId === undefined ? undefined : await askPolicy();
  if (policy?.closeParents === true) {
    // The former parent may be closed. Its columns are locked before the story, as a move does.
    await Promise.all([
      db.find(lockProjectCounters(targetId)),
      lockMove(db, targetId, { leavesParent: true }),
    ]);
  }

  const [{ at }, , story, epics, namedParent, childKeys, named, unblocker] = await Promise.all([
    access(),
    blockedBy === undefined && parentId == null ? undefined : db.find(lockProjectCounters(targetId)),
    lockStory(db, targetId),
    epicId === undefined ? [] : lockCurrentAndNewEpic(db, targetId, epicId),
    parentId == null ? undefined : findNamedParent(db, parentId),
    parentId == null ? [] : listChildKeys(db, targetId),
    findStories(db, blockedBy ?? []),
    blocked == null ? undefined : findMember(db, blocked.unblockerMemberId),
  ]);
  if (epicId != null && !epics.some((epic) => epic.id === epicId && epic.project_id === story.project_id))
    throw await notInProjectError(context, story.project_id, 'epics', { ref: epicId, path: 'epicId' });
  const parent =
    parentId == null
      ? parentId
      : await requireParentInProject(context, story.project_id, parentId, namedParent);
  if (blocked != null) requireParticipant(unblocker, refuse, 'blocked.unblockerMemberId');
  const blockers =
    blockedBy === undefined
      ? story.blocked_by
      : await resolveBlockerIds(context, story.project_id, blockedBy, named);
  requireVersion(story, expectedVersion);
  if (parent != null) {
    requireTopLevelParent(refuse, parent, story.id);
    if (childKeys.length > 0) throw refuse('has_children', { children: childKeys });
  }
  const newParentId = parent === undefined ? story.parent_id : (parent?.id ?? null);
  if (
    (blockedBy !== undefined || parent != null) &&
    (await wouldCreateCycle(db, story.id, newParentId, blockers))
  )
    throw refuse('blocking_circle');

  const wanted = {
    ...plain,
    epicId,
    parentId: newParentId,
    blocked,
    blockedBy: blockers,
  };
  const { changed, fields } = stories.change(db, story, wanted, at);
  if (fields.length === 0) return { story: toStory(story) };
  const gone = story.blocked_by.filter((id) => !blockers.includes(id));
  const come = blockers.filter((id) => !story.blocked_by.includes(id));
  if (gone.length > 0) db.deferToCommit(deleteBlockers(story.id, gone));
  if (come.length > 0) db.deferToCommit(insertBlockers(story.project_id, story.id, come));
  emit('story.updated', toStoryEventSubject(changed), { fields });
  if (policy !== undefined && newParentId !== story.parent_id)
    await closeFormerParent(context, story, policy);
  return { story: toStory(changed) };
});
