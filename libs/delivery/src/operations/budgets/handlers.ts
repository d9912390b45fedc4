import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOne } from './delete.ts';
import { list } from './list.ts';
import { set } from './set.ts';

export const budgets = { set, list, delete: deleteOne } satisfies HandlersOf<DeliveryRegistry['budgets']>;
