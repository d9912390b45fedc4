/**
 * The organization in which every example works, and who may call each. They belong to coordination-api's specs and are
 * loaded by their path when these run: an app never imports another, so no import statement may name them.
 */
import { type Operation } from '@muster/registry';
import { type Person, type World } from '@muster/testing';

export interface ExampleOrg {
  readonly orgId: string;
  readonly ana: Person;
  readonly operator: Person;
}

interface Examples {
  readonly exampleOrg: (world: World) => Promise<ExampleOrg>;
  readonly callerOf: (operation: Operation, org: ExampleOrg) => Person;
}

const load = async (file: string): Promise<Partial<Examples>> =>
  (await import(new URL(`../../coordination-api/test/${file}`, import.meta.url).href)) as Partial<Examples>;

export async function loadExamples(): Promise<Examples> {
  const { exampleOrg } = await load('example-org.ts');
  const { callerOf } = await load('examples/people.ts');
  if (exampleOrg === undefined || callerOf === undefined)
    throw new Error('the examples are somewhere else now');
  return { exampleOrg, callerOf };
}
