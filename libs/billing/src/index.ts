import { billing } from './operations/billing/handlers.ts';
import { platform } from './operations/platform/handlers.ts';
import { type SeatPrices } from './rules/prices.ts';

/** What this lib answers, by namespace, at these prices. */
export const billingHandlers = (prices: SeatPrices) => ({ billing: billing(prices) });

/** What operators of the installation ask, whatever the prices. */
export const platformHandlers = { admin: { platform } };

export { type Recalculation, recalculateSeats } from './data/seat-usage.ts';
export { aboutSubscription, getSubscription } from './data/subscriptions.ts';
export { seatReactions } from './reactions.ts';
export { defaultSeatPrices, parseSeatPrices, type SeatPrices } from './rules/prices.ts';
