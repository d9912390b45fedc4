import { type Operation } from '@muster/contract';
import { type World } from '../world.ts';
import { type ExampleOrg, createExampleOrg } from './example-org.ts';

/**
 * Returns the organization for an operation. Each write gets a new one, and all reads share one, because they
 * do not change it.
 */
export function createExampleOrgProvider(world: World): (operation: Operation) => Promise<ExampleOrg> {
  let forReads: Promise<ExampleOrg> | undefined;
  return ({ effect }) =>
    effect === 'read' ? (forReads ??= createExampleOrg(world)) : createExampleOrg(world);
}
