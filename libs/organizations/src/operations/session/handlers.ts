import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { identity } from './identity.ts';

export const session = { identity } satisfies HandlersOf<OrganizationsRegistry['session']>;
