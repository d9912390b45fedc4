import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';

export const activity = { list } satisfies HandlersOf<Registry['activity']>;
