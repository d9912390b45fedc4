import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getUnreadCounts } from '../../data/notifications.ts';

export const unreadCount = handle(registry.notifications.unreadCount, ({ caller, db }) =>
  getUnreadCounts(db, caller),
);
