import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { Deleted } from '../kernel/values.ts';
import { AppVersion, Device, DeviceId, DeviceName, DevicePlatform, PushToken } from '../records/device.ts';

export const devices = {
  register: operation({
    name: 'devices.register',
    effect: 'write',
    idempotent: true,
    summary: 'Register a device of yours, or register it anew',
    keywords: 'phone laptop computer push token app notifications add',
    description: `deviceId is the client's own. A pushToken left out stays as it is, null takes it away; it belongs to the device that registered it last. That of a browser (platform web) is the JSON of its PushSubscription. At most 50 devices each.`,
    access: self(),
    byMemberOnly: true,
    params: z.strictObject({
      deviceId: DeviceId,
      name: DeviceName,
      platform: DevicePlatform,
      pushToken: PushToken.nullable().optional(),
      appVersion: AppVersion.nullable().optional(),
    }),
    result: z.object({ device: Device }),
    refusals: ['limit_exceeded'],
    example: { deviceId: 'laptop-2', name: 'Work laptop', platform: 'macos', appVersion: '1.4.0' },
  }),
  unregister: operation({
    name: 'devices.unregister',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Forget a device of yours',
    keywords: 'remove phone laptop computer push logout',
    description: `Nothing is sent to it any more.`,
    access: self(),
    byMemberOnly: true,
    params: z.strictObject({ deviceId: DeviceId }),
    result: Deleted,
    example: { deviceId: 'laptop-1' },
  }),
};
