import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { listConnections } from '../data/connections.ts';

export const list = handle(forgesRegistry.forges.list, ({ params, db }) => listConnections(db, params));
