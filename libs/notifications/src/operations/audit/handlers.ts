import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';

export const audit = { list } satisfies HandlersOf<Registry['audit']>;
