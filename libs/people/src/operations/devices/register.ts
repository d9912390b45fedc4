import { newId } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  countDevices,
  findDevice,
  lockPushToken,
  setDevice,
  takePushToken,
  toDevice,
} from '../../data/devices.ts';
import { lockSelf } from '../../data/members.ts';

/** Of one member. */
const mostDevices = 50;

export const register = handle(registry.devices.register, async ({ params, caller, db, access, refuse }) => {
  const { deviceId, name, platform, pushToken, appVersion } = params;
  const { orgId, memberId } = caller;
  const [{ at }, , , known, count] = await Promise.all([
    access(),
    lockSelf(db, caller),
    pushToken == null ? undefined : lockPushToken(db, orgId, pushToken),
    findDevice(db, caller, deviceId),
    countDevices(db, caller),
  ]);
  if (known === undefined && count >= mostDevices) throw refuse('limit_exceeded', { limit: mostDevices });

  const device = {
    org_id: orgId,
    member_id: memberId,
    device_id: deviceId,
    id: known?.id ?? newId(),
    name,
    platform,
    push_token: pushToken === undefined ? (known?.push_token ?? null) : pushToken,
    app_version: appVersion === undefined ? (known?.app_version ?? null) : appVersion,
    created_at: known?.created_at ?? at,
    updated_at: at,
  };
  if (pushToken != null) db.later(takePushToken(device));
  db.later(setDevice(device, pushToken !== undefined));
  return { device: toDevice(device) };
});
