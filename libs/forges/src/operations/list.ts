import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listConnections } from '../data/connections.ts';

export const list = handle(registry.forges.list, ({ params, db }) => listConnections(db, params));
