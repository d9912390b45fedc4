import { notificationsRegistry } from '@muster/notifications-registry';
import { handle, notFound } from '@muster/runtime';
import { getUnreadCounts, markReadByIds } from '../../data/notifications.ts';

export const markRead = handle(
  notificationsRegistry.notifications.markRead,
  async ({ params, caller, db }) => {
    const ids = [...new Set(params.notificationIds)];
    // The queries are pipelined in this order, so the count includes the effect of marking.
    const [{ found, updated }, { unread }] = await Promise.all([
      markReadByIds(db, caller, ids),
      getUnreadCounts(db, caller),
    ]);
    if (found < ids.length) throw notFound();
    return { updated, unread };
  },
);
