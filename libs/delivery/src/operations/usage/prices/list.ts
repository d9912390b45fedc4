import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listPrices } from '../../../data/prices.ts';

export const list = handle(registry.usage.prices.list, ({ params, db }) => listPrices(db, params));
