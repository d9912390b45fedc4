import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getUnread, type Marked, markUnread, mostAtOnce } from '../../data/notifications.ts';

export const markAllRead = handle(registry.notifications.markAllRead, async ({ params, caller, db }) => {
  let after: string | null = null;
  for (let updated = 0; ;) {
    // The queries are pipelined in this order, so the count includes the effect of marking.
    const [marked, { unread }]: [Marked, { unread: number }] = await Promise.all([
      markUnread(db, caller, params.before, after),
      getUnread(db, caller),
    ]);
    updated += marked.updated;
    if (marked.found < mostAtOnce) return { updated, unread };
    after = marked.last;
  }
});
