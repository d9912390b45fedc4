import { createBillingOperationHandlers } from './operations/billing/handlers.ts';
import { platform } from './operations/platform/handlers.ts';
import { type SeatPrices } from './rules/prices.ts';

/** Returns the handlers by namespace, with these prices. */
export const billingHandlers = (prices: SeatPrices) => ({ billing: createBillingOperationHandlers(prices) });

/** The handlers of the installation's operators. They do not depend on prices. */
export const platformHandlers = { admin: { platform } };

export { type SeatRecalculation, recalculateSeats } from './data/seat-usage.ts';
export { toSubscriptionEventSubject, getSubscription } from './data/subscriptions.ts';
export { seatReactions } from './reactions.ts';
export { defaultSeatPrices, parseSeatPrices, type SeatPrices } from './rules/prices.ts';
