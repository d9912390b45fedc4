import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { revoke } from './revoke.ts';
import { revokeOthers } from './revokeOthers.ts';

export const sessions = { list, revoke, revokeOthers } satisfies HandlersOf<
  OrganizationsRegistry['sessions']
>;
