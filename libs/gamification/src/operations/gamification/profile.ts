import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findRank, getMemberRef, getStreakDays, listTallies } from '../../data/profile.ts';
import { findState } from '../../data/state.ts';
import { badgesOf, byKind, levelBeginsAt, levelOf } from '../../rules/points.ts';

export const profile = handle(registry.gamification.profile, async ({ params, caller, db, policy }) => {
  const memberId = params.memberId ?? caller.memberId;
  const [member, kept, rank, streakDays, state, { gamificationEnabled }] = await Promise.all([
    getMemberRef(db, memberId),
    listTallies(db, memberId),
    findRank(db, memberId),
    getStreakDays(db, memberId),
    findState(db),
    policy(),
  ]);
  const tallies = gamificationEnabled ? kept : [];
  const points = tallies.reduce((sum, tally) => sum + tally.points, 0);
  const level = levelOf(points);
  return {
    profile: {
      member,
      points,
      level,
      nextLevelAt: levelBeginsAt(level + 1),
      streakDays: gamificationEnabled ? streakDays : 0,
      rank: gamificationEnabled ? rank : null,
      badges: badgesOf(tallies),
      byKind: byKind(tallies),
      syncedAt: state?.synced_at ?? null,
    },
  };
});
