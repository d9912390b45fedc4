import { type HandlersOf } from '@muster/runtime';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { acquire } from './acquire.ts';
import { acquireNext } from './acquireNext.ts';
import { checkpoint } from './checkpoint.ts';
import { complete } from './complete.ts';
import { eventsSince } from './eventsSince.ts';
import { get } from './get.ts';
import { getForTarget } from './getForTarget.ts';
import { handoff } from './handoff.ts';
import { list } from './list.ts';
import { recordForgeObservation } from './recordForgeObservation.ts';
import { release } from './release.ts';
import { renew } from './renew.ts';
import { update } from './update.ts';

export const deliveryExecutions: HandlersOf<typeof deliveryRegistry.deliveryExecutions> = {
  acquire,
  acquireNext,
  renew,
  checkpoint,
  update,
  handoff,
  release,
  complete,
  recordForgeObservation,
  get,
  getForTarget,
  list,
  eventsSince,
};
