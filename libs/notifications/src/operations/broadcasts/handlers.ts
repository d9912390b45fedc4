import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { send } from './send.ts';

export const broadcasts = { send, list } satisfies HandlersOf<Registry['broadcasts']>;
