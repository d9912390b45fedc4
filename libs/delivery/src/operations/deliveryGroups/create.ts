import { newId } from '@muster/driver';
import { registry } from '@muster/registry';
import { canonicalGit, changedGit, handle } from '@muster/runtime';
import { aboutGroup, getGroupAfter, insertGroup, toGroup } from '../../data/groups.ts';
import { lockStories, type JoiningStories, putStories, requireJoinable } from '../../data/group-stories.ts';

export const create = handle(registry.deliveryGroups.create, async (context) => {
  const { params, targetId, db, access, emit } = context;
  const place: JoiningStories = {
    refs: params.storyIds,
    project: targetId,
    groupId: null,
  };
  // A new group has no holder yet, so it cannot conflict with the holders of its stories.
  const [{ at, projectId }, found] = await Promise.all([access(), lockStories(db, place)]);
  if (projectId === null) throw new Error('a group needs a project');
  const storyIds = await requireJoinable(context, place, projectId, found);

  const id = newId();
  const { git } = changedGit(null, (await canonicalGit(context, params.git)) ?? {});
  const made = insertGroup({
    id,
    project_id: projectId,
    name: params.name,
    merge_strategy: params.mergeStrategy,
    git,
    created_at: at,
  });
  const group = await getGroupAfter(db, id, [made, ...putStories(projectId, id, storyIds)]);
  emit('group.created', aboutGroup(group), { stories: storyIds.length });
  return { group: toGroup(group) };
});
