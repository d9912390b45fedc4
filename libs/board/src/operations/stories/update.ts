import { registry } from '@muster/registry';
import { changedFields, cleared, handle, notFound } from '@muster/runtime';
import { isActiveMember } from '../../data/active-members.ts';
import {
  blockersIn,
  closesCircle,
  deleteBlockers,
  findStories,
  insertBlockers,
} from '../../data/blockers.ts';
import { notInProject } from '../../data/elsewhere.ts';
import { lockCounters } from '../../data/project-counters.ts';
import { aboutStory, changedStory, lockStory, setStory, type StoryRow, toStory } from '../../data/stories.ts';
import { lockEpicsOf } from '../../data/story-epics.ts';

export const update = handle(registry.stories.update, async (context) => {
  const { params, db, access, emit, refuse } = context;
  const { storyId: ref, blocked, epicId, expectedVersion, ...given } = params;
  const blockedBy = cleared(given.blockedBy, []);
  const plain = {
    title: given.title,
    description: cleared(given.description, ''),
    priority: cleared(given.priority, 'none'),
    labels: cleared(given.labels, []),
    estimate: given.estimate,
  };

  const [{ at }, , story, epics, named, unblockerIsMember] = await Promise.all([
    access(),
    blockedBy === undefined ? undefined : db.find(lockCounters(ref)),
    lockStory(db, ref),
    epicId === undefined ? [] : lockEpicsOf(db, ref, epicId),
    findStories(db, blockedBy ?? []),
    blocked == null ? true : isActiveMember(db, blocked.unblockerMemberId),
  ]);
  if (expectedVersion !== undefined && expectedVersion !== story.version) {
    throw refuse('version_mismatch', { currentVersion: story.version });
  }
  if (epicId != null && !epics.some((epic) => epic.id === epicId && epic.project_id === story.project_id)) {
    throw await notInProject(context, story.project_id, 'epics', epicId);
  }
  if (!unblockerIsMember) throw notFound();
  const blockers =
    blockedBy === undefined
      ? story.blocked_by
      : await blockersIn(context, story.project_id, blockedBy, named);
  if (blockedBy !== undefined && (await closesCircle(db, story.id, blockers)))
    throw refuse('blocking_circle');

  const fields = changedFields(
    { ...fieldsOf(story), blockedBy: story.blocked_by },
    { ...plain, epicId, blocked, blockedBy: blockers },
  );
  if (fields.length === 0) return { story: toStory(story) };

  const changes = {
    title: plain.title ?? story.title,
    description: plain.description ?? story.description,
    epic_id: epicId === undefined ? story.epic_id : epicId,
    priority: plain.priority ?? story.priority,
    labels: plain.labels ?? story.labels,
    estimate: plain.estimate === undefined ? story.estimate : plain.estimate,
    blocked: blocked === undefined ? story.blocked : blocked,
  };
  const changed = { ...changedStory(story, changes, at), blocked_by: blockers };
  db.later(
    setStory(changed, ['title', 'description', 'epic_id', 'priority', 'labels', 'estimate', 'blocked']),
  );
  const gone = story.blocked_by.filter((id) => !blockers.includes(id));
  const come = blockers.filter((id) => !story.blocked_by.includes(id));
  if (gone.length > 0) db.later(deleteBlockers(story.id, gone));
  if (come.length > 0) db.later(insertBlockers(story.project_id, story.id, come));
  emit('story.updated', aboutStory(changed), { fields });
  return { story: toStory(changed) };
});

/** What an update may change, by the names it has in the contract. */
const fieldsOf = (story: StoryRow) => ({
  title: story.title,
  description: story.description,
  epicId: story.epic_id,
  priority: story.priority,
  labels: story.labels,
  estimate: story.estimate,
  blocked: story.blocked,
});
