import { badRequest, notFound, handle } from '@muster/runtime';
import { maxSnoozedNotifications } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { getUnreadCounts, snoozeByIds } from '../../data/notifications.ts';

const maxSnoozeMs = 366 * 24 * 60 * 60 * 1_000;

export const snooze = handle(
  notificationsRegistry.notifications.snooze,
  async ({ params, caller, db, access, refuse }) => {
    const ids = [...new Set(params.notificationIds)];
    const { until } = params;
    // The queries are pipelined in this order, so the count includes the effect of snoozing.
    const [{ at }, { found, updated, others }, { unread }] = await Promise.all([
      access(),
      snoozeByIds(db, caller, ids, until),
      getUnreadCounts(db, caller),
    ]);
    const delayMs = until === null ? null : Date.parse(until) - Date.parse(at);
    if (delayMs !== null && (delayMs <= 0 || delayMs > maxSnoozeMs))
      throw badRequest('The time must be in the future, and at most a year away.', [
        { path: 'until', message: 'must be in the future, and at most a year away' },
      ]);
    if (found < ids.length) throw notFound();
    if (until !== null && others + ids.length > maxSnoozedNotifications)
      throw refuse('limit_exceeded', { limit: maxSnoozedNotifications });
    return { updated, unread };
  },
);
