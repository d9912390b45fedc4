/**
 * Stream events for the member alone: each new notification, and the number of unread ones. Both come from
 * calls of notifications.list and notifications.unreadCount, made when the inbox has changed, so their
 * authorization checks apply.
 */
import { ApiError, maxLimit, type Notification, registry } from '@muster/registry';

/** Executes a read for the stream's caller and returns its result as JSON text. Throws an ApiError. */
export type AskFor = (operation: string, params: Readonly<Record<string, unknown>>) => Promise<string>;

export interface PersonalEvents {
  /**
   * Returns the events to send after a possible change of the inbox; empty if nothing changed. The first call
   * returns only the unread count, because older notifications are in the inbox. Null if the token may not
   * read the inbox.
   */
  readonly read: () => Promise<string | null>;
}

interface Page {
  readonly items: readonly Notification[];
  readonly nextCursor: string | null;
}

/** Maximum number of notifications per read. Notifications beyond it are counted but not sent. */
const mostSent = maxLimit;
const firstPage = 20;
/**
 * Notifications do not commit in the order of their ids. A notification that is up to this many milliseconds
 * older than the newest known one may still appear. The API's transactions time out much earlier.
 */
const lateMillis = 60_000;

const timeOf = (one: Notification | undefined): number => Date.parse(one?.createdAt ?? '');

const said = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;

export function createPersonalEvents(ask: AskFor): PersonalEvents {
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
    for (let cursor: string | null = ''; cursor !== null && found.length < mostSent;) {
      const wanted = cursor === '' ? { limit: firstPage } : { limit: mostSent - found.length, cursor };
      const page = JSON.parse(await ask(list.name, wanted)) as Page;
      found.push(...page.items);
      const since = (newest ?? timeOf(found[0])) - lateMillis;
      cursor = timeOf(page.items.at(-1)) < since ? null : page.nextCursor;
    }
    return found;
  }

  async function readFresh(): Promise<Notification[]> {
    const found = await walk();
    const [before, since] = [known, (newest ?? Infinity) - lateMillis];
    known = new Set(found.map(({ id }) => id));
    newest = Math.max(newest ?? -Infinity, ...found.map(timeOf));
    return found.filter((one) => before?.has(one.id) === false && timeOf(one) >= since).reverse();
  }

  return {
    read: async () => {
      try {
        const fresh = await readFresh();
        // The unread count is read after the list. A notification that commits between the two reads is
        // counted now and sent with the next change.
        const count = await ask(unreadCount.name, {});
        const isOther = count !== counted;
        counted = count;
        return [
          ...fresh.map((notification) => said('notification.created', JSON.stringify(notification))),
          ...(isOther ? [said('notifications.unread', count)] : []),
        ].join('');
      } catch (error) {
        if (error instanceof ApiError && error.code === 'forbidden') return null;
        throw error;
      }
    },
  };
}
