import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { list } from './list.ts';
import { retire } from './retire.ts';

/** The handlers that manage agents. Operations about the work of agents are in libs/delivery. */
export const agents = { create, list, retire } satisfies HandlersOf<OrganizationsRegistry['agents']>;
