import { type registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { acquire } from './acquire.ts';
import { list } from './list.ts';
import { release } from './release.ts';

export const locks: HandlersOf<typeof registry.locks> = { acquire, list, release };
