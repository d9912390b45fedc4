/** Generated requests that follow or violate the contract, for specs and proofs. */
export {
  findHttpFault,
  findMcpFault,
  knownFailures,
  collectKnownValues,
  requestsFor,
  type FuzzCall,
} from './requests.ts';
export { type KnownValues } from './values.ts';
