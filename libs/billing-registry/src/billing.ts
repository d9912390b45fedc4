import { z } from 'zod';
import {
  org,
  operation,
  ExpectedVersion,
  Proration,
  SeatPricing,
  SeatUsage,
  Subscription,
  Entitlement,
} from '@muster/contract';

export const billing = {
  seatPricing: operation({
    name: 'billing.seatPricing',
    effect: 'read',
    summary: 'Show the price of seats',
    keywords: 'price cost much money',
    description:
      "By the organization's plan, in minor units of the currency (such as cents). Tiers are graduated: each seat costs the price of the tier that it falls into.",
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({ pricing: SeatPricing }),
    example: {},
  }),
  seatUsage: operation({
    name: 'billing.seatUsage',
    effect: 'read',
    summary: 'Show the number of paid, used, reserved and free seats',
    keywords: 'licenses left free remaining',
    description:
      'Owners, admins and members each use a seat; a pending invitation to one of these roles reserves a seat; viewers and agents need none. Counted at the time of the call.',
    access: org('admin'),
    params: z.strictObject({}),
    result: z.object({ usage: SeatUsage }),
    example: {},
  }),
  updateSeats: operation({
    name: 'billing.updateSeats',
    effect: 'write',
    idempotent: true,
    summary: 'Change the number of paid seats',
    keywords: 'upgrade licenses purchase more',
    description:
      'Takes effect immediately; the rest of the period is charged or credited by day, and the response says how much. With preview the response only shows the price, and nothing changes. Setting the current number succeeds without effect.',
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
    summary: 'Show the plan with its limits and their use',
    keywords: 'subscription quota limits features plan',
    description: 'A limit of null means unlimited. Reserved seats and archived projects count as used.',
    access: org('viewer'),
    params: z.strictObject({}),
    result: z.object({ entitlement: Entitlement }),
    example: {},
  }),
};
