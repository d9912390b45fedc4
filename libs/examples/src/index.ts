/** The organization in which the contract's examples work, and the caller of each example. */
export { type ExampleOrg, createExampleOrg, type ExampleRecordIds } from './example-org.ts';
export { createExampleOrgProvider } from './org-for.ts';
export { exampleCallerOf, endsCallerToken } from './people.ts';
