/** Schemas of the operators' API. They validate calls and generate the OpenAPI document. */
import { z } from 'zod';
import { machineIdProblem } from '../activation/machine.ts';
import { LicenseFeatures, OwnFeatures } from '../features.ts';
import { OwnMeters } from '../meters.ts';
import { type License, stateOf } from '../operators/license.ts';
import { maxMachinesPerLicense, type Term as PlanTerm } from '../operators/plans.ts';
import { durationSecondsOf, parseIsoTime } from '../operators/spans.ts';

const printablePattern = /^[^\p{Cc}]+$/u;

export const LicenseId = z.uuid().describe("The license's id; it is not secret.");
export const OrderReference = z
  .string()
  .min(1)
  .max(128)
  .regex(printablePattern)
  .describe('Your own reference of the sale.');
export const CustomerRef = z
  .string()
  .min(1)
  .max(128)
  .regex(printablePattern)
  .refine((text) => !text.includes('@'), 'must be your own reference, not an e-mail address')
  .describe('Your own reference of the customer, not an e-mail address.');
export const StatusReason = z
  .string()
  .min(1)
  .max(512)
  .regex(printablePattern)
  .describe('The reason, for operators.');
export const MachineId = z
  .string()
  .refine((text) => machineIdProblem(text) === undefined, 'is not a valid machine id');
export const PageLimit = z.int().min(1).max(200).default(50).describe('The maximum number of items.');
export const MachineLimit = z.int().min(1).max(maxMachinesPerLicense);
export const PlanName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

const Span = z
  .string()
  .refine(
    (text) => (durationSecondsOf(text) ?? 0) > 0,
    'must be a duration such as 365d (s, m, h, d, w or y), at most 100y',
  )
  .describe('A duration such as 365d, 12w or 2y.');
const TimeText = z
  .string()
  .refine((text) => parseIsoTime(text) !== undefined, 'must be a date or a time such as 2027-12-31T12:00:00Z')
  .describe('A time such as 2027-12-31T12:00:00Z, or a date for the start of that day (UTC).');

export const Term = z
  .union([
    z.strictObject({ for: Span }),
    z.strictObject({ expires: TimeText }),
    z.strictObject({ perpetual: z.literal(true) }),
  ])
  .describe('The term: a duration from the first activation, until a time, or perpetual.');

export function planTermOf(term: z.infer<typeof Term>): PlanTerm {
  if ('for' in term) return { kind: 'for', seconds: durationSecondsOf(term.for) ?? 0 };
  return 'expires' in term
    ? { kind: 'until', expiresAt: parseIsoTime(term.expires) ?? term.expires }
    : { kind: 'perpetual' };
}

export { OwnFeatures, Span };

export const NullableTime = z.iso.datetime().nullable();

export const LicenseRecord = z.object({
  id: z.uuid(),
  product: z.string(),
  plan: z.string(),
  keyEnding: z.string().describe('The last four symbols of its key.'),
  state: z.enum(['unactivated', 'active', 'expired', 'suspended', 'revoked']),
  reason: z.string().nullable().describe('Why it was suspended or revoked.'),
  expiresAt: NullableTime.describe('null if it never expires, or is not activated yet.'),
  durationSeconds: z.int().nullable().describe('The duration from the first activation.'),
  machineLimit: z.int(),
  machinesUsed: z.int(),
  leaseSeconds: z.int().nullable().describe('How long a slot is lent each time.'),
  activatedAt: NullableTime,
  lastSeenAt: NullableTime,
  offlineUntil: NullableTime.describe('Until when an issued certificate can still be valid.'),
  transfers: z.int(),
  transferLimit: z.int(),
  features: LicenseFeatures,
  meters: OwnMeters.describe('The usage limits: those of the plan, overridden by its own.'),
  customerRef: z.string().nullable(),
  orderRef: z.string().nullable(),
  issuedAt: z.iso.datetime(),
});

export function toLicenseRecord(license: License): z.output<typeof LicenseRecord> {
  const { id, product, plan, hint, reason, expiresAt, durationSeconds, machineLimit, machinesUsed } = license;
  const { leaseSeconds, activatedAt, lastSeenAt, offlineUntil, transfers, transferLimit } = license;
  const { features, meters, customerRef, orderRef, issuedAt } = license;
  return {
    ...{ id, product, plan, keyEnding: hint, state: stateOf(license), reason, expiresAt, durationSeconds },
    ...{ machineLimit, machinesUsed, leaseSeconds, activatedAt, lastSeenAt, offlineUntil },
    ...{ transfers, transferLimit, features, meters, customerRef, orderRef, issuedAt },
  };
}

export const MachineRecord = z.object({
  slot: z.int(),
  hint: z.string().describe('The end of its id.'),
  boundAt: z.iso.datetime(),
  lastSeenAt: NullableTime,
  offlineUntil: NullableTime,
});
export type MachineRecord = z.output<typeof MachineRecord>;

export const EventRecord = z.object({
  id: z.uuid(),
  licenseId: z.uuid(),
  hint: z.string().describe('The last four symbols of its key.'),
  kind: z.string(),
  actor: z.enum(['machine', 'operator', 'customer', 'service']),
  actorRef: z
    .string()
    .nullable()
    .describe('The token or support person: `token shop`, `person ana@example.com`.'),
  epoch: z.int().describe('The number of transfers up to and including this one.'),
  at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type EventRecord = z.output<typeof EventRecord>;

export const DenialRecord = z.object({
  day: z.string(),
  outcome: z.string(),
  count: z.int(),
  lastAt: z.iso.datetime(),
});
export type DenialRecord = z.output<typeof DenialRecord>;

export const EndpointRecord = z.object({
  id: z.uuid(),
  url: z.string(),
  kinds: z.array(z.string()).nullable().describe('null means all events.'),
  isActive: z.boolean(),
  waiting: z.int().describe('The number of pending deliveries.'),
  createdAt: z.iso.datetime(),
});
export type EndpointRecord = z.output<typeof EndpointRecord>;

export const DeliveryRecord = z.object({
  id: z.uuid(),
  eventId: z.uuid(),
  kind: z.string(),
  state: z.enum(['waiting', 'delivered', 'given_up']),
  tries: z.int(),
  nextAt: NullableTime,
  lastStatus: z.int().nullable(),
  lastError: z.string().nullable(),
  createdAt: z.iso.datetime(),
});
export type DeliveryRecord = z.output<typeof DeliveryRecord>;
