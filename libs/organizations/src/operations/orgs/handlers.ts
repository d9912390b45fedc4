import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { transferOwnership } from './transferOwnership.ts';
import { update } from './update.ts';

export const orgs = { update, transferOwnership, delete: deleteOperation } satisfies HandlersOf<
  OrganizationsRegistry['orgs']
>;
