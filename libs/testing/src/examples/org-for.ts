import { type Operation } from '@muster/registry';
import { type World } from '../world.ts';
import { type ExampleOrg, exampleOrg } from './example-org.ts';

/** Where operations are performed: each write in an organization of its own, and all reads in one, which they leave as it is. */
export function exampleOrgs(world: World): (operation: Operation) => Promise<ExampleOrg> {
  let forReads: Promise<ExampleOrg> | undefined;
  return ({ effect }) => (effect === 'read' ? (forReads ??= exampleOrg(world)) : exampleOrg(world));
}
