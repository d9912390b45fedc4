import { z } from 'zod';
import {
  org,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  MemberParam,
  ProjectRef,
  LeaderboardEntry,
  PointsProfile,
  PointsSync,
} from '@muster/contract';

export const gamification = {
  profile: operation({
    name: 'gamification.profile',
    effect: 'read',
    summary: "Show a member's points",
    keywords: 'score level badges streak',
    description:
      "Your own by default. Actions of a member's agents count for the member. Level n begins at 25·n·(n−1) points. Values are from the last count; syncedAt says when. If the policy turns gamification off, no member has points.",
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
    description:
      'For this week (from Monday, UTC), this month, or all time; optionally in one project, for the members of one team, or both. Members without points are not listed. Values are from the last count.',
    access: org('viewer'),
    params: z.strictObject({
      period: z.enum(['week', 'month', 'all']),
      projectId: ProjectRef.optional(),
      teamId: Id.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(LeaderboardEntry),
    example: { period: 'week', projectId: 'WEB' },
  }),
  sync: operation({
    name: 'gamification.sync',
    effect: 'write',
    idempotent: true,
    summary: 'Recount activity into points',
    keywords: 'recount update refresh score leaderboard',
    description:
      'Runs as a background job. Repeated calls while it waits or runs return the same job; with nothing left to count it is done immediately. Nothing is counted twice. If the policy turns gamification off, nothing is counted.',
    access: org('member'),
    params: z.strictObject({}),
    result: PointsSync,
    example: {},
  }),
  reset: operation({
    name: 'gamification.reset',
    effect: 'write',
    destructive: true,
    summary: 'Reset points to zero',
    keywords: 'clear zero score start over points',
    description:
      'For one member, or for everyone. Earlier activity no longer counts, even if it was not counted yet. reset is the number of members who had points.',
    access: org('admin'),
    auditsRefusal: true,
    params: z.strictObject({ memberId: MemberParam.optional(), confirm: z.literal(true) }),
    result: z.object({ reset: z.int() }),
    emits: ['points.cleared'],
    example: { confirm: true },
  }),
};
