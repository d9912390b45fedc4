/** All properties, in the order in which they run. */
import { authority } from './properties/authority.ts';
import { conflicts } from './properties/conflicts.ts';
import { deletion } from './properties/deletion.ts';
import { dependencies } from './properties/dependencies.ts';
import { feeds } from './properties/feeds.ts';
import { forge } from './properties/forge.ts';
import { fuzzing } from './properties/fuzzing.ts';
import { idempotency } from './properties/idempotency.ts';
import { interleavings } from './properties/interleavings.ts';
import { leaseModel } from './properties/lease-model.ts';
import { leaseSafety } from './properties/lease-safety.ts';
import { licenseChanges } from './properties/license-changes.ts';
import { licenseLeases } from './properties/license-leases.ts';
import { licenseOrders } from './properties/license-orders.ts';
import { licenseRace } from './properties/license-race.ts';
import { licenseWebhooks } from './properties/license-webhooks.ts';
import { memory } from './properties/memory.ts';
import { outbox } from './properties/outbox.ts';
import { overload } from './properties/overload.ts';
import { reclaim } from './properties/reclaim.ts';
import { rights } from './properties/rights.ts';
import { rollingStop } from './properties/rolling-stop.ts';
import { runner } from './properties/runner.ts';
import { slowClients } from './properties/slow-clients.ts';
import { stream } from './properties/stream.ts';
import { waiting } from './properties/waiting.ts';
import { webhooks } from './properties/webhooks.ts';
import { type Property } from './property.ts';

export const properties: readonly Property[] = [
  authority,
  rights,
  leaseModel,
  interleavings,
  conflicts,
  leaseSafety,
  reclaim,
  outbox,
  feeds,
  stream,
  webhooks,
  forge,
  runner,
  idempotency,
  licenseRace,
  licenseChanges,
  licenseLeases,
  licenseOrders,
  licenseWebhooks,
  overload,
  dependencies,
  rollingStop,
  deletion,
  slowClients,
  waiting,
  memory,
  fuzzing,
];
