import { type Operation } from '@muster/contract';
import { type World } from '@muster/testing/world';
import { type ExampleOrg, createExampleOrg } from './example-org.ts';

/**
 * Returns the organization for an operation. Each write gets a new one, and all reads share one, because they
 * do not change it.
 */
export function createExampleOrgProvider<Handlers>(
  world: World<Handlers>,
): (operation: Operation) => Promise<ExampleOrg<Handlers>> {
  let forReads: Promise<ExampleOrg<Handlers>> | undefined;
  return ({ effect }) =>
    effect === 'read' ? (forReads ??= createExampleOrg(world)) : createExampleOrg(world);
}
