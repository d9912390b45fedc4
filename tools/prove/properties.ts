/** All that is proven: one line each. */
import { dependencies } from './properties/dependencies.ts';
import { feeds } from './properties/feeds.ts';
import { idempotency } from './properties/idempotency.ts';
import { interleavings } from './properties/interleavings.ts';
import { leaseModel } from './properties/lease-model.ts';
import { leaseSafety } from './properties/lease-safety.ts';
import { licenseRace } from './properties/license-race.ts';
import { outbox } from './properties/outbox.ts';
import { overload } from './properties/overload.ts';
import { reclaim } from './properties/reclaim.ts';
import { rollingStop } from './properties/rolling-stop.ts';
import { type Property } from './property.ts';

export const properties: readonly Property[] = [
  leaseModel,
  interleavings,
  leaseSafety,
  reclaim,
  outbox,
  feeds,
  idempotency,
  licenseRace,
  overload,
  dependencies,
  rollingStop,
];
