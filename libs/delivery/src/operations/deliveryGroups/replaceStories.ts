import { nextVersion, of, requireVersion, sql } from '@muster/driver';
import { codeSaid, codeThatCounts, registry } from '@muster/registry';
import { handle, type HandlerContext } from '@muster/runtime';
import { aboutGroup, deliveryGroups, getGroupAfter, lockGroup, toGroup } from '../../data/groups.ts';
import { changeCode, readCode } from '../../data/code-under-review.ts';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import { lockStories, type JoiningStories, putStories, requireJoinable } from '../../data/group-stories.ts';
import { heldLease, readClock } from '../../data/leases.ts';
import { endInTheWay } from '../../leases/superseding.ts';
import { heldByAnother, heldDetails } from '../../rules/acquire.ts';
import { isOverGroup } from '../../rules/group-states.ts';
import { decideJoining } from '../../rules/joining.ts';

export const replaceStories = handle(registry.deliveryGroups.replaceStories, async (context) => {
  const { params, caller, db, access, emit, refuse } = context;
  const { groupId, expectedVersion } = params;
  const place: JoiningStories = {
    refs: params.storyIds,
    project: sql.part`(select g.project_id from delivery_groups g where ${of('g')} and g.id = ${groupId}::uuid)`,
    groupId,
  };
  const [{ at }, group, found, leases, now] = await Promise.all([
    access(),
    lockGroup(db, groupId),
    lockStories(db, place),
    lockGroupLeases(db, groupId, params.storyIds),
    readClock(db),
  ]);
  requireVersion(group, expectedVersion);
  if (isOverGroup(group.state)) throw refuse('invalid_transition', { from: group.state });
  const storyIds = await requireJoinable(context, place, group.project_id, found);
  for (const lease of [leases.coordination, leases.work]) {
    const inTheWay = heldByAnother(heldLease(lease), caller, now);
    if (inTheWay !== null) throw refuse('lease_held', heldDetails(inTheWay, caller, null));
  }
  const added = storyIds.filter((id) => !group.story_ids.includes(id));
  const removed = group.story_ids.filter((id) => !storyIds.includes(id));
  const isSame = group.story_ids.every((id, index) => storyIds[index] === id);
  if (isSame && added.length === 0) return { group: toGroup(group), added, removed };

  const joining = leases.stories.filter((lease) => added.includes(lease.unit_id));
  const decision = decideJoining({
    now,
    group: heldLease(leases.work),
    stories: joining.map(heldLease).filter((lease) => lease !== null),
  });
  if (decision.kind === 'refuse') throw refuse('lease_held', heldDetails(decision.by, caller, null));
  if (decision.freed.length > 0) {
    const executions = await lockOpenExecutions(
      db,
      decision.freed.map(({ targetId }) => targetId),
    );
    const ownAndJoining = leases.work === undefined ? joining : [leases.work, ...joining];
    await endInTheWay(context, {
      ...{ freed: decision.freed, leases: ownAndJoining },
      ...{ executions, now, joining: true },
    });
  }

  await takeOverCode(context, groupId, added, now);
  const after = await getGroupAfter(db, groupId, [
    ...putStories(group.project_id, groupId, storyIds),
    deliveryGroups.write(nextVersion(group, {}, at), []),
  ]);
  emit('group.storiesReplaced', aboutGroup(after), { added, removed });
  return { group: toGroup(after), added, removed };
});

/** Records the code of the group's work as the code under review of the stories that join. */
async function takeOverCode(
  { db, policy: askPolicy }: HandlerContext<typeof registry.deliveryGroups.replaceStories>,
  groupId: string,
  added: readonly string[],
  now: string,
): Promise<void> {
  if (added.length === 0) return;
  const [[work], codes, policy] = await Promise.all([
    lockOpenExecutions(db, [groupId]),
    readCode(db, added),
    askPolicy(),
  ]);
  const headSha = work?.git?.headSha ?? work?.checkpoint?.headSha ?? undefined;
  if (headSha === undefined) return;
  const diffHash = work?.git?.diffHash ?? undefined;
  const said = codeThatCounts(policy, { headSha, diffHash });
  changeCode(db, codes, (code) => codeSaid(code, said, now));
}
