import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { list } from './list.ts';
import { rename } from './rename.ts';

export const passkeys = { list, rename, delete: deleteOperation } satisfies HandlersOf<
  OrganizationsRegistry['passkeys']
>;
