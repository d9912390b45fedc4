import { z } from 'zod';
import { selfAccess } from '../kernel/access.ts';
import { operation, surfacesWithoutTool } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { Id, Instant } from '../kernel/values.ts';
import {
  maxSnoozed,
  Notification,
  NotificationChannel,
  NotificationKind,
  notificationKinds,
  NotificationPreference,
} from '../records/notification.ts';

const MarkResult = z.object({ updated: z.int(), unread: z.int() });

export const notifications = {
  list: operation({
    name: 'notifications.list',
    effect: 'read',
    summary: 'List your notifications',
    keywords: 'inbox messages mentions what is new alerts',
    description:
      'Your inbox, newest first. Notifications about projects that you may no longer see are neither shown nor counted. Snoozed notifications are hidden until their snooze ends.',
    access: selfAccess(),
    readsInbox: true,
    params: z.strictObject({
      unreadOnly: z.boolean().default(false),
      snoozed: z.boolean().default(false).meta({ description: 'Only those that are snoozed now' }),
      kinds: z.array(NotificationKind).min(1).max(notificationKinds.length).optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(Notification),
    example: { unreadOnly: true, kinds: ['mention', 'assigned'] },
  }),
  unreadCount: operation({
    name: 'notifications.unreadCount',
    effect: 'read',
    summary: 'Count your unread notifications',
    keywords: 'inbox unread messages how many new',
    description: 'In total, and by kind.',
    access: selfAccess(),
    readsInbox: true,
    params: z.strictObject({}),
    result: z.object({ unread: z.int(), byKind: z.record(NotificationKind, z.int()) }),
    example: {},
  }),
  markRead: operation({
    name: 'notifications.markRead',
    effect: 'write',
    idempotent: true,
    summary: 'Mark notifications as read',
    keywords: 'inbox dismiss clear read',
    description:
      'If one of them is not in your inbox, none is marked. Notifications that were already read are not counted in updated.',
    access: selfAccess(),
    staysInProjects: true,
    byMemberOnly: true,
    params: z.strictObject({ notificationIds: z.array(Id).min(1).max(200) }),
    result: MarkResult,
    example: { notificationIds: ['01936d5c-0000-7000-8000-000000000070'] },
  }),
  snooze: operation({
    name: 'notifications.snooze',
    effect: 'write',
    idempotent: true,
    summary: 'Hide notifications until a time',
    keywords: 'remind later postpone defer inbox wake',
    description: `They leave your inbox and its counts, and are unread again at that time, at most a year from now. With null they come back immediately. If one of them is not in your inbox, none is snoozed. You can have ${maxSnoozed} snoozed notifications at the same time.`,
    access: selfAccess(),
    staysInProjects: true,
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      notificationIds: z.array(Id).min(1).max(200),
      until: Instant.nullable().meta({ description: 'null: bring them back now' }),
    }),
    result: MarkResult,
    refusals: ['limit_exceeded'],
    example: { notificationIds: ['01936d5c-0000-7000-8000-000000000070'], until: null },
  }),
  markAllRead: operation({
    name: 'notifications.markAllRead',
    effect: 'write',
    idempotent: true,
    summary: 'Mark all notifications as read',
    keywords: 'clear empty inbox dismiss',
    description:
      'With before, only notifications up to that time, so that newer ones stay unread. Snoozed notifications stay as they are.',
    access: selfAccess(),
    staysInProjects: true,
    byMemberOnly: true,
    params: z.strictObject({ before: Instant.optional() }),
    result: MarkResult,
    example: {},
  }),
  listPreferences: operation({
    name: 'notifications.listPreferences',
    effect: 'read',
    summary: 'List your notification settings',
    keywords: 'settings email push',
    description: 'Every kind with its channels. Settings that you never changed have their default.',
    access: selfAccess(),
    readsInbox: true,
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(NotificationPreference),
    example: {},
  }),
  setPreference: operation({
    name: 'notifications.setPreference',
    effect: 'write',
    idempotent: true,
    summary: 'Turn a channel on or off for a kind',
    keywords: 'mute email emails off settings unsubscribe push',
    description:
      'Applies to future notifications. If the inbox is off, a kind can still be sent by e-mail, push or digest. The digest is one e-mail a day with the unread notifications of all kinds that have it on; without any, nothing is sent.',
    access: selfAccess(),
    byMemberOnly: true,
    params: z.strictObject({ kind: NotificationKind, channel: NotificationChannel, enabled: z.boolean() }),
    result: z.object({ preference: NotificationPreference }),
    example: { kind: 'comment_reply', channel: 'email', enabled: true },
  }),
};
