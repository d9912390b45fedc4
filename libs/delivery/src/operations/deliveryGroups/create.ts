import { newId } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { withCanonicalPullRequest, mergeReportedGit, handle } from '@muster/runtime';
import { groupSubject, getGroupAfterWrites, insertGroup, toGroup } from '../../data/groups.ts';
import {
  lockNamedStories,
  type JoiningStories,
  replaceStoriesOfGroup,
  requireJoinable,
} from '../../data/group-stories.ts';

export const create = handle(deliveryRegistry.deliveryGroups.create, async (context) => {
  const { params, targetId, db, access, emit } = context;
  const place: JoiningStories = {
    storyRefs: params.storyIds,
    projectIdSql: targetId,
    groupId: null,
  };
  // A new group has no holder yet, so it cannot conflict with the holders of its stories.
  const [{ at, projectId }, found] = await Promise.all([access(), lockNamedStories(db, place)]);
  if (projectId === null) throw new Error('a group needs a project');
  const storyIds = await requireJoinable(context, place, projectId, found);

  const id = newId();
  const { git } = mergeReportedGit(null, (await withCanonicalPullRequest(context, params.git)) ?? {});
  const made = insertGroup({
    id,
    project_id: projectId,
    name: params.name,
    merge_strategy: params.mergeStrategy,
    git,
    created_at: at,
  });
  const group = await getGroupAfterWrites(db, id, [made, ...replaceStoriesOfGroup(projectId, id, storyIds)]);
  emit('group.created', groupSubject(group), { stories: storyIds.length });
  return { group: toGroup(group) };
});
