/** Requests that are made up, by the contract and against it; specs and proofs send them. */
export { faultIn, faultInTool, found, learn, requestsFor, type Sent } from './requests.ts';
export { type Known } from './values.ts';
