import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAgents } from '../../../data/catalog.ts';

export const list = handle(registry.agents.catalog.list, ({ params, db }) => listAgents(db, params));
