import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { get } from './get.ts';
import { list } from './list.ts';
import { log } from './log.ts';

export const runs = { get, list, log } satisfies HandlersOf<DeliveryRegistry['agents']['runs']>;
