/** The organization in which the contract's examples work, and the caller of each example. */
export { type ExampleOrg, exampleOrg, type Records } from './example-org.ts';
export { exampleOrgs } from './org-for.ts';
export { callerOf, endsItsCaller } from './people.ts';
