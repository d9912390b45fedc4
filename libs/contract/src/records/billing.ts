import { z } from 'zod';
import { orgRoles } from '../kernel/access.ts';
import { Id, recordStamps, Time } from '../kernel/values.ts';
import { plans } from './org.ts';

/** An amount of money in whole minor units of the currency, such as cents. */
const Amount = z.int();
const Currency = z.string().describe('ISO 4217, such as USD');

/** A tier in which each seat up to and including `upTo` costs `unitAmount`; null for all further seats. */
export const SeatTier = z.object({ upTo: z.int().nullable(), unitAmount: Amount });

/** The prices of seats. They are graduated: each seat costs the amount of the tier that it falls into. */
export const SeatPricing = z
  .object({
    plan: z.enum(plans),
    currency: Currency,
    interval: z.literal('month'),
    tiers: z.array(SeatTier),
    seats: z.int().describe('The number of paid seats'),
    amount: Amount.describe('Their price for a whole billing interval'),
  })
  .meta({ id: 'SeatPricing' });
export type SeatPricing = z.infer<typeof SeatPricing>;

export const SeatUsage = z
  .object({
    purchased: z.int(),
    used: z.int().describe('Seats held by active members other than viewers'),
    pending: z.int().describe('Seats reserved by invitations that can still be accepted'),
    available: z.int(),
    byRole: z
      .record(z.enum(orgRoles), z.int())
      .describe('Active members, including viewers, who hold no seat'),
    recalculatedAt: Time,
  })
  .meta({ id: 'SeatUsage' });
export type SeatUsage = z.infer<typeof SeatUsage>;

export const subscriptionStatuses = ['trialing', 'active', 'past_due', 'canceled'] as const;

export const Subscription = z
  .object({
    id: Id,
    plan: z.enum(plans),
    status: z.enum(subscriptionStatuses),
    seats: z.int(),
    currentPeriodStart: Time,
    currentPeriodEnd: Time,
    ...recordStamps,
  })
  .meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof Subscription>;

export const ProrationLine = z.object({
  kind: z.enum(['credit', 'charge']).describe('The price of the previous seats, then that of the new seats'),
  seats: z.int(),
  days: z.int().describe('The remaining part of the period, including today'),
  amount: Amount.describe('A negative number is a credit'),
});
export type ProrationLine = z.infer<typeof ProrationLine>;

/** The cost of a change of seats for the rest of the period. The lines add up to the amount. */
export const Proration = z
  .object({
    amount: Amount.describe('A negative number is a credit'),
    currency: Currency,
    from: Time.describe('The start of today in UTC'),
    to: Time.describe('The end of the period'),
    lines: z.array(ProrationLine),
  })
  .meta({ id: 'Proration' });
export type Proration = z.infer<typeof Proration>;
