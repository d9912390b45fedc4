import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id, Instant } from '../kernel/values.ts';
import {
  Notification,
  NotificationChannel,
  NotificationKind,
  notificationKinds,
  NotificationPreference,
} from '../records/notification.ts';

const Marked = z.object({ updated: z.int(), unread: z.int() });

export const notifications = {
  list: operation({
    name: 'notifications.list',
    effect: 'read',
    summary: 'List what you were told',
    description: `Your inbox, newest first. What is about a project that you may no longer see is neither shown nor counted.`,
    access: self(),
    params: z.strictObject({
      unreadOnly: z.boolean().default(false),
      kinds: z.array(NotificationKind).min(1).max(notificationKinds.length).optional(),
      ...page,
    }),
    result: pageOf(Notification),
    example: { unreadOnly: true, kinds: ['mention', 'assigned'] },
  }),
  unreadCount: operation({
    name: 'notifications.unreadCount',
    effect: 'read',
    summary: 'Count what you have not read',
    description: `All of the inbox, and each kind of it.`,
    access: self(),
    params: z.strictObject({}),
    result: z.object({ unread: z.int(), byKind: z.record(NotificationKind, z.int()) }),
    example: {},
  }),
  markRead: operation({
    name: 'notifications.markRead',
    effect: 'write',
    summary: 'Mark notifications as read',
    description: `All of them or, where one is not in your inbox, none. Those read before stay as they are and are not counted in updated.`,
    access: self(),
    params: z.strictObject({ notificationIds: z.array(Id).min(1).max(200) }),
    result: Marked,
    example: { notificationIds: ['01936d5c-0000-7000-8000-000000000070'] },
  }),
  markAllRead: operation({
    name: 'notifications.markAllRead',
    effect: 'write',
    summary: 'Mark all notifications as read',
    description: `With before, only those from up to that moment: so what came since you looked stays unread.`,
    access: self(),
    params: z.strictObject({ before: Instant.optional() }),
    result: Marked,
    example: {},
  }),
  listPreferences: operation({
    name: 'notifications.listPreferences',
    effect: 'read',
    summary: 'List how you are told of each kind',
    description: `Every kind with its channels. What you never set has the default.`,
    access: self(),
    params: z.strictObject({ ...page }),
    result: pageOf(NotificationPreference),
    example: {},
  }),
  setPreference: operation({
    name: 'notifications.setPreference',
    effect: 'write',
    summary: 'Turn a channel on or off for a kind',
    description: `Holds for what happens from then on. With the inbox off, a kind can still come by e-mail or push.`,
    access: self(),
    params: z.strictObject({ kind: NotificationKind, channel: NotificationChannel, enabled: z.boolean() }),
    result: z.object({ preference: NotificationPreference }),
    example: { kind: 'comment_reply', channel: 'email', enabled: true },
  }),
};
