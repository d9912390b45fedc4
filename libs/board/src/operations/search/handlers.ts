import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { find } from './find.ts';

export const search = { find } satisfies HandlersOf<Registry['search']>;
