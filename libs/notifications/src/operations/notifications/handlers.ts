import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { listPreferences } from './listPreferences.ts';
import { markAllRead } from './markAllRead.ts';
import { markRead } from './markRead.ts';
import { setPreference } from './setPreference.ts';
import { snooze } from './snooze.ts';
import { unreadCount } from './unreadCount.ts';

export const notifications = {
  list,
  unreadCount,
  markRead,
  markAllRead,
  snooze,
  listPreferences,
  setPreference,
} satisfies HandlersOf<NotificationsRegistry['notifications']>;
