import { deliveryRegistry } from '@muster/delivery-registry';
import { withCanonicalPullRequest, mergeReportedGit, handle } from '@muster/runtime';
import { groupSubject, deliveryGroups, lockGroup, toGroup } from '../../data/groups.ts';

export const updateGitMeta = handle(deliveryRegistry.deliveryGroups.updateGitMeta, async (context) => {
  const { params, db, access, emit } = context;
  const [{ at }, group] = await Promise.all([access(), lockGroup(db, params.groupId)]);
  const { git, fields } = mergeReportedGit(group.git, await withCanonicalPullRequest(context, params.git));
  if (fields.length === 0) return { group: toGroup(group) };
  const changed = deliveryGroups.save(db, group, { git }, at);
  emit('group.gitMetaUpdated', groupSubject(group), { fields });
  return { group: toGroup(changed) };
});
