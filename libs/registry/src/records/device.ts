import { z } from 'zod';
import { Id, name, text, Time } from '../kernel/values.ts';

/** The client's own id of a device. */
export const DeviceId = text(128, 1);
export const DeviceName = name(120);
export const AppVersion = name(64);
export const PushToken = text(4096, 1).meta({ description: 'A secret; no answer shows it' });
export const platforms = ['macos', 'windows', 'linux', 'ios', 'android', 'web'] as const;
export const DevicePlatform = z.enum(platforms);

export const Device = z
  .object({
    id: Id,
    deviceId: z.string(),
    name: z.string(),
    platform: DevicePlatform,
    appVersion: z.string().nullable(),
    takesPush: z.boolean().describe('Whether it has a push token'),
    createdAt: Time,
    updatedAt: Time,
  })
  .meta({ id: 'Device' });
export type Device = z.infer<typeof Device>;
