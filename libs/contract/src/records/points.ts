/** Points that a member earned by their own work and that of their agents. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { MemberRef } from './member.ts';

/** The achievements that earn points. */
export const pointKinds = [
  'story_done',
  'review_given',
  'spec_written',
  'contract_published',
  'comment_resolved',
  'story_created',
] as const;
export type PointKind = (typeof pointKinds)[number];

const Badge = z.object({
  slug: z.string(),
  title: z.string(),
  kind: z.enum(pointKinds).describe('The action that earned it'),
  times: z.int().describe('How many times the action has to be done to earn the badge'),
});
export type Badge = z.infer<typeof Badge>;

export const PointsProfile = z
  .object({
    member: MemberRef,
    points: z.int(),
    level: z.int().describe('The level, starting at 1'),
    nextLevelAt: z.int().describe('The points at which the next level begins'),
    streakDays: z
      .int()
      .describe('The number of consecutive days (UTC) with points, up to today or yesterday'),
    rank: z
      .int()
      .nullable()
      .describe('The rank among all members over all time; ties share a rank; null without points'),
    badges: z.array(Badge),
    byKind: z.record(z.enum(pointKinds), z.int()),
    syncedAt: Time.nullable().describe('The time up to which activity was counted; null if never'),
  })
  .meta({ id: 'PointsProfile' });
export type PointsProfile = z.infer<typeof PointsProfile>;

export const LeaderboardEntry = z
  .object({
    rank: z.int().describe('Ties share a rank, and the following ranks are skipped'),
    member: MemberRef,
    points: z.int(),
    delta: z.int().nullable().describe('Compared with the whole previous week or month; null for all time'),
  })
  .meta({ id: 'LeaderboardEntry' });
export type LeaderboardEntry = z.infer<typeof LeaderboardEntry>;

/** The progress of the points update that was requested last. */
export const PointsSync = z.object({
  jobId: Id.nullable().describe('null if a recount was never requested'),
  state: z.enum(['queued', 'running', 'done']),
  syncedAt: Time.nullable(),
});
