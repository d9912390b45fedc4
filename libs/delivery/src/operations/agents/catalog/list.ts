import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { listAgents } from '../../../data/catalog.ts';

export const list = handle(deliveryRegistry.agents.catalog.list, ({ params, db }) => listAgents(db, params));
