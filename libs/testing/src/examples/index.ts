/** The organization in which the contract's examples work, and who may call each. */
export { type ExampleOrg, exampleOrg, type Records } from './example-org.ts';
export { exampleOrgs } from './org-for.ts';
export { callerOf, endsItsCaller } from './people.ts';
