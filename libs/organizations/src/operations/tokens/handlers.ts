import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { list } from './list.ts';
import { revoke } from './revoke.ts';

export const tokens = { create, list, revoke } satisfies HandlersOf<OrganizationsRegistry['tokens']>;
