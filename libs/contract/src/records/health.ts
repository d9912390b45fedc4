/** Statistics of the work in a project during a period. */
import { z } from 'zod';
import { Time } from '../kernel/values.ts';

export const healthMeasures = ['leadTime', 'landingGap', 'rework', 'stalledLeases', 'waits'] as const;
export type HealthMeasure = (typeof healthMeasures)[number];

const Seconds = z.int().nullable();

export const Durations = z.object({
  count: z.int().describe('How often this happened in the period'),
  p50: Seconds.describe('The median in seconds; null if no duration is known'),
  p90: Seconds.describe('The 90th percentile in seconds'),
});
export type Durations = z.output<typeof Durations>;

export const HealthFigures = z.object({
  leadTime: Durations.describe(
    'From the start of a story (first execution acquired, or moved to in_progress) until it became done. A story that was never started counts without a duration',
  ),
  landingGap: Durations.describe(
    'From done until the forge merged, for each story that is done and whose work was merged; 0 if the merge came first. Counted in the week of the later of the two',
  ),
  rework: Durations.describe(
    'Rework: from done until reopened, and from submission until work was sent back (checks failed, changes requested, conflict, pull request closed)',
  ),
  stalledLeases: Durations.describe(
    'From the expiry of a lease until the next step of the work (taken over, checkpoint, released, completed). Work that is still stalled counts without a duration',
  ),
  waits: Durations.describe('From asking a question until it was resolved'),
});
export type HealthFigures = z.output<typeof HealthFigures>;

export const HealthWeek = HealthFigures.extend({
  week: z.string().describe('The ISO 8601 week, such as 2026-W47; weeks begin on Monday, in UTC'),
  startsAt: Time.describe('The Monday of the week, even if the requested range begins later'),
});
export type HealthWeek = z.output<typeof HealthWeek>;
