import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSubscription } from '../../data/subscriptions.ts';
import { type SeatPrices } from '../../rules/prices.ts';
import { costOf } from '../../rules/proration.ts';

export const seatPricing = (prices: SeatPrices) =>
  handle(registry.billing.seatPricing, async ({ db }) => {
    const { plan, seats } = await getSubscription(db);
    const price = prices[plan];
    return { pricing: { plan, ...price, seats, amount: costOf(price.tiers, seats) } };
  });
