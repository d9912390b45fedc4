/** Generated requests that follow or violate the contract, for specs and proofs. */
export { faultIn, faultInTool, found, learn, requestsFor, type FuzzCall } from './requests.ts';
export { type Known } from './values.ts';
