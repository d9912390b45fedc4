import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { maxPrices, setPrice } from '../../../data/prices.ts';

export const set = handle(deliveryRegistry.usage.prices.set, async ({ params, db, refuse }) => {
  const price = await setPrice(db, params);
  if (price === undefined) throw refuse('limit_exceeded', { limit: maxPrices });
  return { price };
});
