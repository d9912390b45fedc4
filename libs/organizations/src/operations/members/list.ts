import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listMembers } from '../../data/member-lists.ts';

export const list = handle(registry.members.list, ({ params, db }) => listMembers(db, params));
