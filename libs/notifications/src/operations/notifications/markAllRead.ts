import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import {
  getUnreadCounts,
  type MarkReadResult,
  markReadUpTo,
  maxMarkedPerStatement,
} from '../../data/notifications.ts';

export const markAllRead = handle(
  notificationsRegistry.notifications.markAllRead,
  async ({ params, caller, db }) => {
    let after: string | null = null;
    for (let updated = 0; ;) {
      // The queries are pipelined in this order, so the count includes the effect of marking.
      const [marked, { unread }]: [MarkReadResult, { unread: number }] = await Promise.all([
        markReadUpTo(db, caller, params.before, after),
        getUnreadCounts(db, caller),
      ]);
      updated += marked.updated;
      if (marked.found < maxMarkedPerStatement) return { updated, unread };
      after = marked.last;
    }
  },
);
