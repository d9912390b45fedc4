/** Parsing of deliveries without a database. CI pipelines use it too, to read the event that started them. */
export { type DeliveryFact, factKey } from './rules/fact.ts';
export { zeroShaToNull } from './rules/pull-requests.ts';
export {
  collectsOtherWork,
  isMergeQueueBranch,
  trailersOfCommits,
  trailersOfPull,
} from './rules/trailers.ts';
export { readDelivery } from './rules/translations.ts';
