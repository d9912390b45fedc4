import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { add } from './members/add.ts';
import { list as listMembers } from './members/list.ts';
import { remove } from './members/remove.ts';
import { setRole } from './members/setRole.ts';
import { update } from './update.ts';

export const teams = {
  create,
  get,
  list,
  update,
  delete: deleteOperation,
  members: { add, setRole, remove, list: listMembers },
} satisfies HandlersOf<OrganizationsRegistry['teams']>;
