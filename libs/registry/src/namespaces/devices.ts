import { z } from 'zod';
import { selfAccess } from '../kernel/access.ts';
import { operation, surfacesWithoutTool } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { Deleted } from '../kernel/values.ts';
import {
  AppVersion,
  chatServices,
  ChatUrl,
  Device,
  DeviceId,
  DeviceName,
  DevicePlatform,
  PushToken,
} from '../records/device.ts';

export const devices = {
  list: operation({
    name: 'devices.list',
    effect: 'read',
    summary: 'List your devices and chat channels',
    keywords: 'phone laptop browser push notifications slack microsoft teams channel connected',
    description:
      'Everything that receives your push notifications, in the order in which it was registered. Devices end with the token or session that registered them; chat channels stay until you remove them with devices.unregister.',
    access: selfAccess(),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(Device),
    example: {},
  }),
  connectChat: operation({
    name: 'devices.connectChat',
    effect: 'write',
    summary: 'Send your push notifications to a channel of Slack or Microsoft Teams',
    keywords: 'slack teams chat channel message incoming webhook workflow connect notify',
    description:
      'Sends the notifications for which you enabled the channel push, until you remove the returned device with devices.unregister, also while you are signed out. A channel that an access token connected ends with the token. Everyone in the channel can read them. You are notified by e-mail. At most 5 per member.',
    access: selfAccess(),
    byMemberOnly: true,
    auditsRefusal: true,
    needsProof: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ service: z.enum(chatServices), name: DeviceName, url: ChatUrl }),
    result: z.object({ device: Device }),
    refusals: ['limit_exceeded'],
    example: {
      service: 'slack',
      name: '#ana-notifications',
      url: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    },
  }),
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
    summary: 'Remove one of your devices or chat channels',
    keywords: 'remove phone laptop computer push logout slack teams disconnect',
    description: 'It no longer receives push notifications.',
    access: selfAccess(),
    byMemberOnly: true,
    params: z.strictObject({ deviceId: DeviceId }),
    result: Deleted,
    example: { deviceId: 'laptop-1' },
  }),
};
