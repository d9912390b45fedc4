/**
 * Stream events for the member alone: each new notification, and the number of unread ones. Both come from
 * calls of notifications.list and notifications.unreadCount, made when the inbox has changed, so their
 * authorization checks apply.
 */
import { ApiError, maxPageSize, type Notification } from '@muster/contract';
import { registry } from '@muster/registry';

/** Executes a read for the stream's caller and returns its result as JSON text. Throws an ApiError. */
export type ExecuteReadAsJson = (
  operation: string,
  params: Readonly<Record<string, unknown>>,
) => Promise<string>;

export interface PersonalEvents {
  /**
   * Returns the events to send after a possible change of the inbox; empty if nothing changed. The first call
   * returns only the unread count, because older notifications are in the inbox. Null if the token may not
   * read the inbox.
   */
  readonly read: () => Promise<string | null>;
}

interface NotificationPage {
  readonly items: readonly Notification[];
  readonly nextCursor: string | null;
}

/** Maximum number of notifications per read. Notifications beyond it are counted but not sent. */
const maxNotificationsPerRead = maxPageSize;
const firstPageSize = 20;
/**
 * Notifications do not commit in the order of their ids. A notification that is up to this many milliseconds
 * older than the newest known one may still appear. The API's transactions time out much earlier.
 */
const maxCommitDelayMillis = 60_000;

const createdAtMillis = (notification: Notification | undefined): number =>
  Date.parse(notification?.createdAt ?? '');

const formatEvent = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;

export function createPersonalEvents(executeRead: ExecuteReadAsJson): PersonalEvents {
  const { list, unreadCount } = registry.notifications;
  let counted = '';
  /** The ids of the notifications in the last read; null before the first read. */
  let known: ReadonlySet<string> | null = null;
  let newest: number | null = null;

  /**
   * Reads notifications, newest first. Stops at notifications that are so old that no notification before
   * them can have appeared since the last read.
   */
  async function walk(): Promise<Notification[]> {
    const found: Notification[] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < maxNotificationsPerRead;) {
      const wanted =
        cursor === '' ? { limit: firstPageSize } : { limit: maxNotificationsPerRead - found.length, cursor };
      const page = JSON.parse(await executeRead(list.name, wanted)) as NotificationPage;
      found.push(...page.items);
      const since = (newest ?? createdAtMillis(found[0])) - maxCommitDelayMillis;
      cursor = createdAtMillis(page.items.at(-1)) < since ? null : page.nextCursor;
    }
    return found;
  }

  async function readFresh(): Promise<Notification[]> {
    const found = await walk();
    const [before, since] = [known, (newest ?? Infinity) - maxCommitDelayMillis];
    known = new Set(found.map(({ id }) => id));
    newest = Math.max(newest ?? -Infinity, ...found.map(createdAtMillis));
    return found.filter((one) => before?.has(one.id) === false && createdAtMillis(one) >= since).reverse();
  }

  return {
    read: async () => {
      try {
        const fresh = await readFresh();
        // The unread count is read after the list. A notification that commits between the two reads is
        // counted now and sent with the next change.
        const count = await executeRead(unreadCount.name, {});
        const isOther = count !== counted;
        counted = count;
        return [
          ...fresh.map((notification) => formatEvent('notification.created', JSON.stringify(notification))),
          ...(isOther ? [formatEvent('notifications.unread', count)] : []),
        ].join('');
      } catch (error) {
        if (error instanceof ApiError && error.code === 'forbidden') return null;
        throw error;
      }
    },
  };
}
