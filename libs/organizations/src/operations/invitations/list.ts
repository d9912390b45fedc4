import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listInvitations } from '../../data/invitations.ts';

export const list = handle(organizationsRegistry.invitations.list, ({ params, db }) =>
  listInvitations(db, params),
);
