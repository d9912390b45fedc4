import { withNextVersion, orgFilter, requireVersion, sql } from '@muster/driver';
import { applyReportedCode, trustedCodeReport } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, type HandlerContext } from '@muster/runtime';
import { groupSubject, deliveryGroups, getGroupAfterWrites, lockGroup, toGroup } from '../../data/groups.ts';
import { changeCodeUnderReview, readCodeUnderReview } from '../../data/code-under-review.ts';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import {
  lockNamedStories,
  type JoiningStories,
  replaceStoriesOfGroup,
  requireJoinable,
} from '../../data/group-stories.ts';
import { toHeldLease, readClock } from '../../data/leases.ts';
import { endConflictingLeases } from '../../leases/superseding.ts';
import { findLiveLeaseOfAnother, leaseHeldDetails } from '../../rules/acquire.ts';
import { isFinalGroupState } from '../../rules/group-states.ts';
import { decideJoiningGroup } from '../../rules/joining.ts';

export const replaceStories = handle(deliveryRegistry.deliveryGroups.replaceStories, async (context) => {
  const { params, caller, db, access, emit, refuse } = context;
  const { groupId, expectedVersion } = params;
  const place: JoiningStories = {
    storyRefs: params.storyIds,
    projectIdSql: sql.part`(select g.project_id from delivery_groups g where ${orgFilter('g')} and g.id = ${groupId}::uuid)`,
    groupId,
  };
  const [{ at }, group, found, leases, now] = await Promise.all([
    access(),
    lockGroup(db, groupId),
    lockNamedStories(db, place),
    lockGroupLeases(db, groupId, params.storyIds),
    readClock(db),
  ]);
  requireVersion(group, expectedVersion);
  if (isFinalGroupState(group.state)) throw refuse('invalid_transition', { from: group.state });
  const storyIds = await requireJoinable(context, place, group.project_id, found);
  for (const lease of [leases.coordinationLease, leases.workLease]) {
    const inTheWay = findLiveLeaseOfAnother(toHeldLease(lease), caller, now);
    if (inTheWay !== null) throw refuse('lease_held', leaseHeldDetails(inTheWay, caller, null));
  }
  const added = storyIds.filter((id) => !group.story_ids.includes(id));
  const removed = group.story_ids.filter((id) => !storyIds.includes(id));
  const isSame = group.story_ids.every((id, index) => storyIds[index] === id);
  if (isSame && added.length === 0) return { group: toGroup(group), added, removed };

  const joining = leases.storyLeases.filter((lease) => added.includes(lease.unit_id));
  const decision = decideJoiningGroup({
    now,
    group: toHeldLease(leases.workLease),
    storyLeases: joining.map(toHeldLease).filter((lease) => lease !== null),
  });
  if (decision.kind === 'refuse') throw refuse('lease_held', leaseHeldDetails(decision.by, caller, null));
  if (decision.freed.length > 0) {
    const executions = await lockOpenExecutions(
      db,
      decision.freed.map(({ targetId }) => targetId),
    );
    const ownAndJoining = leases.workLease === undefined ? joining : [leases.workLease, ...joining];
    await endConflictingLeases(context, {
      ...{ leasesToEnd: decision.freed, leases: ownAndJoining },
      ...{ executions, now, joining: true },
    });
  }

  await copyGroupCodeToStories(context, groupId, added, now);
  const after = await getGroupAfterWrites(db, groupId, [
    ...replaceStoriesOfGroup(group.project_id, groupId, storyIds),
    deliveryGroups.write(withNextVersion(group, {}, at), []),
  ]);
  emit('group.storiesReplaced', groupSubject(after), { added, removed });
  return { group: toGroup(after), added, removed };
});

/** Records the code of the group's work as the code under review of the stories that join. */
async function copyGroupCodeToStories(
  { db, policy: askPolicy }: HandlerContext<typeof deliveryRegistry.deliveryGroups.replaceStories>,
  groupId: string,
  added: readonly string[],
  now: string,
): Promise<void> {
  if (added.length === 0) return;
  const [[work], codes, policy] = await Promise.all([
    lockOpenExecutions(db, [groupId]),
    readCodeUnderReview(db, added),
    askPolicy(),
  ]);
  const headSha = work?.git?.headSha ?? work?.checkpoint?.headSha ?? undefined;
  if (headSha === undefined) return;
  const diffHash = work?.git?.diffHash ?? undefined;
  const said = trustedCodeReport(policy, { headSha, diffHash });
  changeCodeUnderReview(db, codes, (code) => applyReportedCode(code, said, now));
}
