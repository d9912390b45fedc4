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
  kind: z.enum(pointKinds).describe('What it was earned by'),
  times: z.int().describe('How often that took'),
});
export type Badge = z.infer<typeof Badge>;

export const PointsProfile = z
  .object({
    member: MemberRef,
    points: z.int(),
    level: z.int().describe('From 1'),
    nextLevelAt: z.int().describe('The points at which the next level begins'),
    streakDays: z.int().describe('Days on end, by UTC, with points, up to today or yesterday'),
    rank: z
      .int()
      .nullable()
      .describe('Among all members, over all time; ties share one; null without points'),
    badges: z.array(Badge),
    byKind: z.record(z.enum(pointKinds), z.int()),
    syncedAt: Time.nullable().describe('Up to when it was counted; null: never'),
  })
  .meta({ id: 'PointsProfile' });
export type PointsProfile = z.infer<typeof PointsProfile>;

export const LeaderboardEntry = z
  .object({
    rank: z.int().describe('Ties share one, and the one after them is passed over'),
    member: MemberRef,
    points: z.int(),
    delta: z.int().nullable().describe('Against the whole week or month before; null over all time'),
  })
  .meta({ id: 'LeaderboardEntry' });
export type LeaderboardEntry = z.infer<typeof LeaderboardEntry>;

/** The progress of the points update that was requested last. */
export const PointsSync = z.object({
  jobId: Id.nullable().describe('null: nothing was ever asked for'),
  state: z.enum(['queued', 'running', 'done']),
  syncedAt: Time.nullable(),
});
