import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { invite } from './invite.ts';
import { leave } from './leave.ts';
import { list } from './list.ts';
import { profile } from './profile.ts';
import { removeMember } from './removeMember.ts';
import { setRole } from './setRole.ts';

export const members = {
  invite,
  list,
  profile,
  setRole,
  removeMember,
  leave,
} satisfies HandlersOf<OrganizationsRegistry['members']>;
