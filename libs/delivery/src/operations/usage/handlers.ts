import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './prices/list.ts';
import { set } from './prices/set.ts';
import { summary } from './summary.ts';

export const usage = { summary, prices: { set, list } } satisfies HandlersOf<DeliveryRegistry['usage']>;
