import { type deliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { acquire } from './acquire.ts';
import { list } from './list.ts';
import { release } from './release.ts';

export const locks: HandlersOf<typeof deliveryRegistry.locks> = { acquire, list, release };
