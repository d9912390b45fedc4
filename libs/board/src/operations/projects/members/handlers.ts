import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { add } from './add.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';

export const members = { add, remove, list } satisfies HandlersOf<Registry['projects']['members']>;
