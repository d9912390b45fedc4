import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { publish } from './publish.ts';

export const contracts = { publish, list } satisfies HandlersOf<Registry['contracts']>;
