import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { catalog } from './catalog/handlers.ts';
import { listActive } from './listActive.ts';
import { record } from './record.ts';
import { runEvent } from './runEvent.ts';
import { runs } from './runs/handlers.ts';

/**
 * The handlers for runs and the catalog of agents. libs/organizations creates, lists and retires agents, and
 * libs/notifications has their inbox.
 */
export const agents = { runEvent, listActive, record, catalog, runs } satisfies HandlersOf<
  DeliveryRegistry['agents']
>;
