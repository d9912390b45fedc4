/** Licenses for installed programs. `createLicenseClient` is the only function that a program needs. */
export { createLicenseClient, type LicenseClient } from './client.ts';
export { type Entitlements, type Features } from './features.ts';
export {
  type LatestAnswer,
  type LatestOptions,
  type LatestRelease,
  type ReleaseFile,
} from './latest-answer.ts';
export { type LicenseClientOptions } from './options.ts';
export { type MeterReport, type MeterUsage, type LicenseUsage } from './meter-usage.ts';
export { type PublicKey } from './public-key.ts';
export { type Allowed, type Reason, type LicenseRefusal, type Release, type Standing } from './standing.ts';
