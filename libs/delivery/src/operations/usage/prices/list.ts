import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { listPrices } from '../../../data/prices.ts';

export const list = handle(deliveryRegistry.usage.prices.list, ({ params, db }) => listPrices(db, params));
