import { type Db, currentOrgId, sql } from '@muster/driver';
import { type Subject } from '@muster/contract';
import { gamificationRegistry } from '@muster/gamification-registry';
import { handle } from '@muster/runtime';
import { getMemberRef } from '../../data/profile.ts';
import { lockCountingState } from '../../data/state.ts';
import { countMembersWithPoints, resetSums } from '../../data/sums.ts';

/** Returns the event subject of a reset: the member, or the organization. */
async function resetSubject(db: Db, orgId: string, memberId: string | null): Promise<Subject> {
  if (memberId !== null) {
    const { id, name } = await getMemberRef(db, memberId);
    return { type: 'member', id, key: null, title: name, projectId: null };
  }
  const { name } = await db.one(sql<{ name: string }>`select name from orgs where id = ${currentOrgId}`);
  return { type: 'org', id: orgId, key: null, title: name, projectId: null };
}

export const reset = handle(gamificationRegistry.gamification.reset, async ({ params, caller, db, emit }) => {
  const { orgId } = caller;
  const memberId = params.memberId ?? null;
  // The state is locked first, so that no count of points runs at the same time.
  const [, withPoints, subject] = await Promise.all([
    lockCountingState(db),
    countMembersWithPoints(db, memberId),
    resetSubject(db, orgId, memberId),
  ]);
  resetSums(db, memberId);
  emit('points.cleared', subject, { memberId });
  return { reset: withPoints };
});
