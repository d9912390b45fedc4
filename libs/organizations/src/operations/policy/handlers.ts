import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { get } from './get.ts';
import { update } from './update.ts';

export const policy = { get, update } satisfies HandlersOf<OrganizationsRegistry['policy']>;
