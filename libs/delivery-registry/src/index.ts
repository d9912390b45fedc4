/** The operations about executions, delivery groups, locks, changes, usage and budgets, runs and the catalog of agents. */
import { agents } from './agents.ts';
import { budgets } from './budgets.ts';
import { changes } from './changes.ts';
import { deliveryExecutions } from './deliveryExecutions.ts';
import { deliveryGroups } from './deliveryGroups.ts';
import { locks } from './locks.ts';
import { projects } from './projects.ts';
import { usage } from './usage.ts';

export const deliveryRegistry = {
  deliveryExecutions,
  deliveryGroups,
  agents,
  locks,
  projects,
  changes,
  usage,
  budgets,
};
export type DeliveryRegistry = typeof deliveryRegistry;
