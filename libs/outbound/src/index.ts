export {
  type AllowedDestination,
  destinationOf,
  type AllowedNetwork,
  parseNetworks,
  addressRefusalReason,
  urlRefusalReason,
} from './addresses.ts';
export { newWebhookSecret } from './webhook-secret.ts';
export { maxWebhookAttempts, secondsUntilNextAttempt } from './webhook-tries.ts';
export { createSecretCipher, type SecretOwner, type SecretCipher } from './seals.ts';
