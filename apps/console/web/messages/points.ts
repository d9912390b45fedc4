/** English texts of the settings of points, loaded with them. */
import { type PointsProfile } from '@muster/contract';
import { pluralize } from './en.ts';

export const pointTexts = {
  intro:
    'Points and badges for completed stories, reviews, specs and other work. They are shown on this page only, and only to people who turn them on.',
  show: 'Show points and the leaderboard in this browser',
  off: 'Your organization doesn’t award points. Admins can change this in the policy.',
  facts: 'Your points',
  points: 'Points',
  total: (points: number) => pluralize(points, 'point', 'points'),
  level: 'Level',
  levelOf: (level: number, nextLevelAt: number) =>
    `${level.toLocaleString()} (next level at ${pluralize(nextLevelAt, 'point', 'points')})`,
  streak: 'Streak',
  streakDays: (days: number) => pluralize(days, 'day', 'days'),
  rank: 'Rank',
  badges: 'Badges',
  none: 'None yet',
  kinds: {
    story_done: 'Completed stories',
    review_given: 'Reviews',
    spec_written: 'Specs',
    contract_published: 'Contracts',
    comment_resolved: 'Resolved comments',
    story_created: 'Created stories',
  } satisfies Record<keyof PointsProfile['byKind'], string>,
  leaderboard: 'Leaderboard',
  period: 'Period',
  periods: { week: 'This week', month: 'This month', all: 'All time' },
  noOne: 'No points in this period yet',
  delta: (delta: number) =>
    `${delta < 0 ? '−' : '+'}${Math.abs(delta).toLocaleString()} since the last period`,
  more: 'Show more',
};
