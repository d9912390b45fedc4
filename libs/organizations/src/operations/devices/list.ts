import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listDevices } from '../../data/devices.ts';

export const list = handle(organizationsRegistry.devices.list, ({ params, caller, db }) =>
  listDevices(db, caller, params),
);
