import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id, MemberParam, ProjectRef } from '../kernel/values.ts';
import { LeaderboardEntry, PointsProfile, PointsSync } from '../records/points.ts';

export const gamification = {
  profile: operation({
    name: 'gamification.profile',
    effect: 'read',
    summary: "Show a member's points",
    keywords: 'score level badges streak',
    description: `Your own where no member is named. What a member's agents did counts for the member. Level n begins at 25·n·(n−1) points. As it was counted last: syncedAt says when. Where the policy switches gamification off, no member has points.`,
    access: org('viewer'),
    params: z.strictObject({ memberId: MemberParam.optional() }),
    result: z.object({ profile: PointsProfile }),
    example: {},
  }),
  leaderboard: operation({
    name: 'gamification.leaderboard',
    effect: 'read',
    summary: 'Rank members by their points',
    keywords: 'ranking top score best',
    description: `Of this week (from Monday, by UTC), this month, or all time; in one project, of the members of one team, or both. Members without points are not on it. As it was counted last.`,
    access: org('viewer'),
    params: z.strictObject({
      period: z.enum(['week', 'month', 'all']),
      projectId: ProjectRef.optional(),
      teamId: Id.optional(),
      ...page,
    }),
    result: pageOf(LeaderboardEntry),
    example: { period: 'week', projectId: 'WEB' },
  }),
  sync: operation({
    name: 'gamification.sync',
    effect: 'write',
    idempotent: true,
    summary: 'Have the activity counted into points',
    keywords: 'recount update refresh score leaderboard',
    description: `A worker does it. Asked for again while it waits or runs, it is the same job; with nothing left to count it is done at once. Nothing is ever counted twice. Where the policy switches gamification off, nothing is counted.`,
    access: org('member'),
    params: z.strictObject({}),
    result: PointsSync,
    example: {},
  }),
  reset: operation({
    name: 'gamification.reset',
    effect: 'write',
    destructive: true,
    summary: 'Set points back to nothing',
    keywords: 'clear zero score start over points',
    description: `Of one member or of everybody. What happened before counts no more, also where it was not counted yet. reset is how many members had points.`,
    access: org('admin'),
    auditsRefusal: true,
    params: z.strictObject({ memberId: MemberParam.optional(), confirm: z.literal(true) }),
    result: z.object({ reset: z.int() }),
    emits: ['points.cleared'],
    example: { confirm: true },
  }),
};
