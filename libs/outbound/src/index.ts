export {
  type AllowedDestination,
  destinationOf,
  type NamedNetwork,
  parseNetworks,
  refusedAddress,
  refusedUrl,
} from './addresses.ts';
export { newWebhookSecret } from './webhook-secret.ts';
export { mostTries, nextTryInSeconds } from './webhook-tries.ts';
export { createSeals, type SecretOwner, type Seals } from './seals.ts';
