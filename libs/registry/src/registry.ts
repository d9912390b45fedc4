/** The registry: every operation, by its name. */
import { type Operation, type OperationTree, walkOperations } from '@muster/contract';
import { attachmentsRegistry } from '@muster/attachments-registry';
import { billingRegistry } from '@muster/billing-registry';
import { boardRegistry } from '@muster/board-registry';
import { deliveryRegistry } from '@muster/delivery-registry';
import { forgesRegistry } from '@muster/forges-registry';
import { gamificationRegistry } from '@muster/gamification-registry';
import { notificationsRegistry } from '@muster/notifications-registry';
import { organizationsRegistry } from '@muster/organizations-registry';

export const registry = {
  ...deliveryRegistry,
  ...organizationsRegistry,
  ...boardRegistry,
  ...attachmentsRegistry,
  ...notificationsRegistry,
  ...forgesRegistry,
  ...gamificationRegistry,
  ...billingRegistry,
  // Namespaces to which several domains contribute.
  agents: { ...deliveryRegistry.agents, ...notificationsRegistry.agents, ...organizationsRegistry.agents },
  projects: { ...boardRegistry.projects, ...deliveryRegistry.projects },
  teams: { ...organizationsRegistry.teams, ...boardRegistry.teams },
};
export type Registry = typeof registry;

/** All operations by name, in the order of the registry. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  [...walkOperations(registry as unknown as OperationTree)].map((operation) => [operation.name, operation]),
);
