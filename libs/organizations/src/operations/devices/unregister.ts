import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { deleteDevice } from '../../data/devices.ts';

export const unregister = handle(registry.devices.unregister, async ({ params, caller, db }) => {
  if ((await deleteDevice(db, caller, params.deviceId)) === undefined) throw notFound();
  return { deleted: true as const };
});
