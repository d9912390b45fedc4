import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { resend } from './resend.ts';
import { revoke } from './revoke.ts';

export const invitations = { list, resend, revoke } satisfies HandlersOf<
  OrganizationsRegistry['invitations']
>;
