import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listMembers } from '../../data/member-lists.ts';

export const list = handle(organizationsRegistry.members.list, ({ params, db }) => listMembers(db, params));
