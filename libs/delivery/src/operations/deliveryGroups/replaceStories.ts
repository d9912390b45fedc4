import { registry } from '@muster/registry';
import { handle, type HandlerContext } from '@muster/runtime';
import {
  aboutGroup,
  asChanged,
  changedGroup,
  getGroupAfter,
  lockGroup,
  setGroup,
  toGroup,
} from '../../data/groups.ts';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import { lockStories, type Place, putStories, requireJoinable } from '../../data/group-stories.ts';
import { type LeaseRow, readClock, toHeldLease } from '../../data/leases.ts';
import { supersede } from '../../data/superseding.ts';
import { heldByAnother, heldDetails, type HeldLease } from '../../rules/acquire.ts';
import { isOverGroup } from '../../rules/group-states.ts';
import { decideJoining } from '../../rules/joining.ts';

export const replaceStories = handle(registry.deliveryGroups.replaceStories, async (context) => {
  const { params, caller, db, access, emit, refuse } = context;
  const { orgId } = caller;
  const { groupId, expectedVersion } = params;
  const place: Place = {
    refs: params.storyIds,
    projectSql: (values) =>
      `(select g.project_id from delivery_groups g where g.org_id = ${values.org} and g.id = ${values.uuid(groupId)})`,
    groupId,
  };
  const [{ at }, group, found, leases, now] = await Promise.all([
    access(),
    lockGroup(db, orgId, groupId),
    lockStories(db, orgId, place),
    lockGroupLeases(db, orgId, groupId, params.storyIds),
    readClock(db),
  ]);
  if (expectedVersion !== undefined && expectedVersion !== group.version) {
    throw refuse('version_mismatch', { currentVersion: group.version });
  }
  if (isOverGroup(group.state)) throw refuse('invalid_transition', { from: group.state });
  const storyIds = await requireJoinable(context, place, group.project_id, found);
  for (const lease of [leases.coordination, leases.work]) {
    const inTheWay = heldByAnother(lease && toHeldLease(lease), caller, now);
    if (inTheWay !== null) throw refuse('lease_held', heldDetails(inTheWay));
  }
  const added = storyIds.filter((id) => !group.story_ids.includes(id));
  const removed = group.story_ids.filter((id) => !storyIds.includes(id));
  const isSame = group.story_ids.every((id, index) => storyIds[index] === id);
  if (isSame && added.length === 0) return { group: toGroup(group), added, removed };

  const joining = leases.stories.filter((lease) => added.includes(lease.unit_id));
  const decision = decideJoining({
    now,
    group: (leases.work && toHeldLease(leases.work)) ?? null,
    stories: joining.map(toHeldLease).filter((lease) => lease !== null),
  });
  if (decision.kind === 'refuse') throw refuse('lease_held', heldDetails(decision.by));
  const ownAndJoining = leases.work === undefined ? joining : [leases.work, ...joining];
  await endExpired(context, decision.freed, ownAndJoining, now);

  const changed = changedGroup(group, {}, at);
  const after = await getGroupAfter(db, orgId, groupId, [
    ...putStories(orgId, group.project_id, groupId, storyIds),
    setGroup(orgId, changed, asChanged([])),
  ]);
  emit('group.storiesReplaced', aboutGroup(after), { added, removed });
  return { group: toGroup(after), added, removed };
});

/** Ends the expired leases that are in the way of the group and its stories coming together. */
async function endExpired(
  { db, caller }: HandlerContext<typeof registry.deliveryGroups.replaceStories>,
  freed: readonly HeldLease[],
  leases: readonly LeaseRow[],
  now: string,
): Promise<void> {
  if (freed.length === 0) return;
  const ids = freed.map(({ targetId }) => targetId);
  const executions = await lockOpenExecutions(db, caller.orgId, ids);
  for (const lease of leases.filter(({ unit_id: id }) => ids.includes(id))) {
    const execution = executions.find(({ target_id: id }) => id === lease.unit_id);
    supersede(db, caller, lease, execution, now);
  }
}
