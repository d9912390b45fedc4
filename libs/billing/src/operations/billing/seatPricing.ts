import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { getSubscription } from '../../data/subscriptions.ts';
import { type SeatPrices } from '../../rules/prices.ts';
import { calculateCost } from '../../rules/proration.ts';

export const createSeatPricingHandler = (prices: SeatPrices) =>
  handle(billingRegistry.billing.seatPricing, async ({ db }) => {
    const { plan, seats } = await getSubscription(db);
    const price = prices[plan];
    return { pricing: { plan, ...price, seats, amount: calculateCost(price.tiers, seats) } };
  });
