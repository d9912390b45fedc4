import { type BillingRegistry } from '@muster/billing-registry';
import { type HandlersOf } from '@muster/runtime';
import { type SeatPrices } from '../../rules/prices.ts';
import { orgEntitlement } from './orgEntitlement.ts';
import { createSeatPricingHandler } from './seatPricing.ts';
import { seatUsage } from './seatUsage.ts';
import { createUpdateSeatsHandler } from './updateSeats.ts';

/** Returns the handlers. The prices apply to the whole installation until it restarts. */
export const createBillingOperationHandlers = (prices: SeatPrices) =>
  ({
    seatPricing: createSeatPricingHandler(prices),
    seatUsage,
    updateSeats: createUpdateSeatsHandler(prices),
    orgEntitlement,
  }) satisfies HandlersOf<BillingRegistry['billing']>;
