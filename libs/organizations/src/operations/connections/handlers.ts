import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { revoke } from './revoke.ts';

export const connections = { list, revoke } satisfies HandlersOf<OrganizationsRegistry['connections']>;
