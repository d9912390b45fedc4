import { gamificationRegistry } from '@muster/gamification-registry';
import { handle } from '@muster/runtime';
import { findRank, getMemberRef, getStreakDays, listPointTotals } from '../../data/profile.ts';
import { findCountingState } from '../../data/state.ts';
import { badgesOf, pointsByKind, pointsAtLevelStart, levelOf } from '../../rules/points.ts';

export const profile = handle(
  gamificationRegistry.gamification.profile,
  async ({ params, caller, db, policy }) => {
    const memberId = params.memberId ?? caller.memberId;
    const [member, kept, rank, streakDays, state, { gamificationEnabled }] = await Promise.all([
      getMemberRef(db, memberId),
      listPointTotals(db, memberId),
      findRank(db, memberId),
      getStreakDays(db, memberId),
      findCountingState(db),
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
        nextLevelAt: pointsAtLevelStart(level + 1),
        streakDays: gamificationEnabled ? streakDays : 0,
        rank: gamificationEnabled ? rank : null,
        badges: badgesOf(tallies),
        byKind: pointsByKind(tallies),
        syncedAt: state?.synced_at ?? null,
      },
    };
  },
);
