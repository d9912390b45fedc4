import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getUnread } from '../../data/notifications.ts';

export const unreadCount = handle(registry.notifications.unreadCount, ({ caller, db }) =>
  getUnread(db, caller),
);
