/** Notifications to members, and the channels that deliver them. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const notificationKinds = [
  'mention',
  'assigned',
  'review_requested',
  'review_verdict',
  'comment_reply',
  'handoff',
  'lease_expired',
  'lock_taken_over',
  'lease_taken_over',
  'broadcast',
  'invitation_accepted',
  'access_requested',
  'access_resolved',
  'seat_limit',
  'webhook_paused',
  'unblocked',
  'forge_failing',
  'merge_reverted',
  'budget_warning',
  'subscribed',
] as const;
export const NotificationKind = z.enum(notificationKinds);
export type NotificationKind = z.infer<typeof NotificationKind>;

/**
 * The channels of notifications. E-mail and push are sent after the inbox entry is written. A digest is one
 * e-mail a day.
 */
export const notificationChannels = ['inbox', 'email', 'push', 'digest'] as const;
export const NotificationChannel = z.enum(notificationChannels);
export type NotificationChannel = z.infer<typeof NotificationChannel>;

/** The maximum number of notifications of one member that are snoozed at the same time. */
export const maxSnoozedNotifications = 500;

export const Notification = z
  .object({
    id: Id,
    kind: NotificationKind,
    title: z.string(),
    body: z.string(),
    subject: z.object({ type: z.string(), id: Id, key: z.string().nullable(), title: z.string() }).nullable(),
    actor: Actor,
    readAt: Time.nullable(),
    snoozedUntil: Time.nullable(),
    createdAt: Time,
  })
  .meta({ id: 'Notification' });
export type Notification = z.infer<typeof Notification>;

/** The channels on which a member receives notifications of a kind. */
export const NotificationPreference = z
  .object({
    kind: NotificationKind,
    channels: z.object({ inbox: z.boolean(), email: z.boolean(), push: z.boolean(), digest: z.boolean() }),
  })
  .meta({ id: 'NotificationPreference' });
export type NotificationPreference = z.infer<typeof NotificationPreference>;
