import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listInvitations } from '../../data/invitations.ts';

export const list = handle(registry.invitations.list, ({ params, db }) => listInvitations(db, params));
