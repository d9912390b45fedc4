import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { ExpectedVersion } from '../kernel/values.ts';
import { Proration, SeatPricing, SeatUsage, Subscription } from '../records/billing.ts';
import { Entitlement } from '../records/org.ts';

export const billing = {
  seatPricing: operation({
    name: 'billing.seatPricing',
    effect: 'read',
    summary: 'Say what seats cost',
    keywords: 'price cost much money',
    description: `By the organization's plan, in whole minor units of the currency. Tiers are graduated: each seat costs what the tier that it falls in says.`,
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({ pricing: SeatPricing }),
    example: {},
  }),
  seatUsage: operation({
    name: 'billing.seatUsage',
    effect: 'read',
    summary: 'Count the seats that are bought, held, reserved and free',
    keywords: 'licenses left free remaining',
    description: `Owner, admin and member hold a seat, a pending invitation to be one reserves it, a viewer and an agent need none. Counted now, from who is there.`,
    access: org('admin'),
    params: z.strictObject({}),
    result: z.object({ usage: SeatUsage }),
    example: {},
  }),
  updateSeats: operation({
    name: 'billing.updateSeats',
    effect: 'write',
    idempotent: true,
    summary: 'Buy more seats, or fewer',
    keywords: 'upgrade licenses purchase more',
    description: `Holds at once; the rest of the period is charged or credited to the day, and the answer says how much. With preview it only says so: nothing changes. The number one has succeeds and changes nothing.`,
    access: org('owner'),
    needsProof: true,
    params: z.strictObject({
      seats: z.int().min(1).max(1_000_000),
      expectedVersion: ExpectedVersion,
      preview: z.boolean().default(false),
    }),
    result: z.object({ subscription: Subscription, usage: SeatUsage, proration: Proration }),
    refusals: ['version_mismatch', 'seats_in_use', 'limit_exceeded'],
    emits: ['seats.changed'],
    auditsRefusal: true,
    example: { seats: 30 },
  }),
  orgEntitlement: operation({
    name: 'billing.orgEntitlement',
    effect: 'read',
    summary: 'Say what the plan allows and what is used of it',
    keywords: 'subscription quota limits features plan',
    description: `A limit of null is none. A seat that an invitation reserves counts as used, and so does an archived project.`,
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({ entitlement: Entitlement }),
    example: {},
  }),
};
