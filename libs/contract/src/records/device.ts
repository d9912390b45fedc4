import { z } from 'zod';
import { Id, nameText, boundedText, Time, Url } from '../kernel/values.ts';

/** The id that the client assigned to a device. */
export const DeviceId = boundedText(128, 1);
export const DeviceName = nameText(120);
export const AppVersion = nameText(64);
export const PushToken = boundedText(4096, 1).meta({ description: 'A secret; no response contains it' });
const decodedByteCount = (base64: string): number => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
const base64 = z.string().regex(/^[A-Za-z0-9_+/-]+={0,2}$/);

/**
 * The subscription of a browser's PushManager: the push URL, its public key (a point of 65 bytes) and 16
 * bytes of secret.
 */
export const WebPushSubscription = z.object({
  endpoint: z.url({ protocol: /^https$/ }),
  keys: z.object({
    p256dh: base64
      .startsWith('B')
      .refine((text) => decodedByteCount(text) === 65, 'a point of 65 bytes in base64url'),
    auth: base64.refine((text) => decodedByteCount(text) === 16, '16 bytes in base64url'),
  }),
});

export const platforms = ['macos', 'windows', 'linux', 'ios', 'android', 'web'] as const;
export const DevicePlatform = z.enum(platforms);

/** Chat services to whose channels notifications and events can be sent, by an incoming webhook of the service. */
export const chatServices = ['slack', 'teams'] as const;
export type ChatService = (typeof chatServices)[number];
export const isChatService = (name: string): name is ChatService =>
  chatServices.some((service) => service === name);

/** The URL of an incoming webhook. Whoever has it can write to the channel. */
export const ChatUrl = Url.meta({
  description:
    'The URL of an incoming webhook of Slack, or of a workflow of Microsoft Teams. A secret; no response contains it',
});

/** The token of the link that Muster sent to a Slack account. */
export const SlackLinkToken = boundedText(1_000, 1).meta({
  description: 'The token in the link that Muster sent to the Slack account',
});

export const Device = z
  .object({
    id: Id,
    deviceId: z.string(),
    name: z.string(),
    platform: z
      .enum([...platforms, ...chatServices, 'slack_account'])
      .describe('slack_account is a Slack account that may answer questions as you'),
    appVersion: z.string().nullable(),
    takesPush: z.boolean().describe('Whether it has a push token, or the URL of a chat channel'),
    createdAt: Time,
    updatedAt: Time,
  })
  .meta({ id: 'Device' });
export type Device = z.infer<typeof Device>;
