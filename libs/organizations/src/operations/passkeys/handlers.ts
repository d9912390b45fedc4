import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { list } from './list.ts';
import { rename } from './rename.ts';

export const passkeys = { list, rename, delete: deleteOperation } satisfies HandlersOf<Registry['passkeys']>;
