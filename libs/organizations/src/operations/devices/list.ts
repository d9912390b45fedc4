import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listDevices } from '../../data/devices.ts';

export const list = handle(registry.devices.list, ({ params, caller, db }) =>
  listDevices(db, caller, params),
);
