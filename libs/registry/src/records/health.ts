/** Statistics of the work in a project during a period. */
import { z } from 'zod';
import { Time } from '../kernel/values.ts';

export const healthMeasures = ['leadTime', 'landingGap', 'rework', 'stalledLeases', 'waits'] as const;
export type HealthMeasure = (typeof healthMeasures)[number];

const Seconds = z.int().nullable();

export const Durations = z.object({
  count: z.int().describe('How many there were'),
  p50: Seconds.describe('Seconds that half of them took at most; null where none has a known length'),
  p90: Seconds.describe('Seconds that nine of ten took at most'),
});
export type Durations = z.output<typeof Durations>;

export const HealthFigures = z.object({
  leadTime: Durations.describe(
    'Each time a story became done: from when it was first begun (first execution acquired, or moved to in_progress) until then. One never begun counts without a length',
  ),
  landingGap: Durations.describe(
    'Each story that is done and whose work was merged: from when it became done until the forge merged; 0 where the merge came first. In the week of the later of the two',
  ),
  rework: Durations.describe(
    'Each story reopened after it was done, from done until then; and each sent back after it was handed in (checks failed, changes requested, conflict, pull request closed), from then on',
  ),
  stalledLeases: Durations.describe(
    "Each lease that expired: from when that was noted until the work's next step (taken over, checkpoint, released, completed); one still stalled counts without a length",
  ),
  waits: Durations.describe('Each question that was resolved: from being asked until then'),
});
export type HealthFigures = z.output<typeof HealthFigures>;

export const HealthWeek = HealthFigures.extend({
  week: z.string().describe('By ISO 8601, such as 2026-W47; weeks begin on Monday, in UTC'),
  startsAt: Time.describe('Its Monday, also where the span begins later'),
});
export type HealthWeek = z.output<typeof HealthWeek>;
