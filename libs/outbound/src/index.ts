export { type NamedNetwork, parseNetworks, refusedAddress, refusedUrl } from './addresses.ts';
export { AddressRefused, createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';
export { createSeals, parseSecretKeys, type SecretOwner, type Seals } from './seals.ts';
