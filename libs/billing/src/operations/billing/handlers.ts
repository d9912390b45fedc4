import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { type SeatPrices } from '../../rules/prices.ts';
import { orgEntitlement } from './orgEntitlement.ts';
import { seatPricing } from './seatPricing.ts';
import { seatUsage } from './seatUsage.ts';
import { updateSeats } from './updateSeats.ts';

/** Returns the handlers. The prices apply to the whole installation until it restarts. */
export const billing = (prices: SeatPrices) =>
  ({
    seatPricing: seatPricing(prices),
    seatUsage,
    updateSeats: updateSeats(prices),
    orgEntitlement,
  }) satisfies HandlersOf<Registry['billing']>;
