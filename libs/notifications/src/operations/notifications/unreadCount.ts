import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { getUnreadCounts } from '../../data/notifications.ts';

export const unreadCount = handle(notificationsRegistry.notifications.unreadCount, ({ caller, db }) =>
  getUnreadCounts(db, caller),
);
