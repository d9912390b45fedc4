import { z } from 'zod';
import { selfAccess } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { Deleted } from '../kernel/values.ts';
import { AppVersion, Device, DeviceId, DeviceName, DevicePlatform, PushToken } from '../records/device.ts';

export const devices = {
  register: operation({
    name: 'devices.register',
    effect: 'write',
    idempotent: true,
    summary: 'Register or update one of your devices',
    keywords: 'phone laptop computer push token app notifications add',
    description:
      'deviceId is chosen by the client. An omitted pushToken keeps its value, and null removes it; a token belongs to the device that registered it last. For a browser (platform web) it is the JSON of its PushSubscription. At most 50 devices per member.',
    access: selfAccess(),
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
    summary: 'Remove one of your devices',
    keywords: 'remove phone laptop computer push logout',
    description: 'It no longer receives push notifications.',
    access: selfAccess(),
    byMemberOnly: true,
    params: z.strictObject({ deviceId: DeviceId }),
    result: Deleted,
    example: { deviceId: 'laptop-1' },
  }),
};
