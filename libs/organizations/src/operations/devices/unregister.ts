import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { deleteDevice } from '../../data/devices.ts';

export const unregister = handle(organizationsRegistry.devices.unregister, async ({ params, caller, db }) => {
  await deleteDevice(db, caller, params.deviceId);
  return { deleted: true as const };
});
