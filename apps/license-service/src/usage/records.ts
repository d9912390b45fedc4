/** Schemas of usage reports. They validate calls and generate the OpenAPI document. */
import { z } from 'zod';
import { MeterName, MeterUsageRecord } from '../meters.ts';

const maxEventsPerCall = 100;
const maxEventQuantity = 1_000_000;
const latestMillis = Date.UTC(9999, 0);

const UsageEvent = z.strictObject({
  id: z
    .string()
    .regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters without spaces')
    .describe('Identifies the event. An event with the same id is not counted again.'),
  meter: MeterName,
  quantity: z.int().min(1).max(maxEventQuantity).default(1),
  at: z.iso
    .datetime({ offset: true })
    // Postgres accepts fewer years and offsets than ISO 8601. Times outside of these are refused in any case.
    .transform((time) => new Date(Math.min(Math.max(Date.parse(time), 0), latestMillis)).toISOString())
    .optional()
    .describe(
      'When it happened, at most 35 days ago; the time of the call if omitted. Send it if you repeat events: after 37 days an id is forgotten.',
    ),
});

/** The parameters of a usage report in addition to the key and the machine. */
export const UsageParams = z.strictObject({
  events: z
    .array(UsageEvent)
    .max(maxEventsPerCall)
    .describe('The events to count. An empty list only reads the current usage.'),
});

const EventOutcome = z.object({
  id: z.string(),
  outcome: z.enum(['counted', 'repeated', 'refused']),
  reason: z
    .enum(['meter_exceeded', 'unknown_meter', 'too_old', 'in_future', 'too_many_events'])
    .nullable()
    .describe('Why it was refused; null otherwise.'),
});

/** The outcome of a usage report. */
export const UsageResult = z.object({
  events: z.array(EventOutcome),
  meters: z
    .array(MeterUsageRecord)
    .describe('The usage in the current period and in the periods of the events.'),
});
export type UsageResult = z.output<typeof UsageResult>;
