/**
 * What a stream tells its member alone: each notification that comes, and how many are unread. Both are answers of
 * notifications.list and notifications.unreadCount, asked for when the inbox changed, so their rights hold here.
 */
import { ApiError, maxLimit, type Notification, registry } from '@muster/registry';

/** Executes a read for the stream's caller; answers the result as JSON text. Throws an ApiError. */
export type AskFor = (operation: string, params: Readonly<Record<string, unknown>>) => Promise<string>;

export interface PersonalEvents {
  /**
   * What to send now that the inbox may have changed; empty where it did not change. The first time it is the unread
   * count alone: what was there before is in the inbox. Null where this token may not read the inbox.
   */
  readonly read: () => Promise<string | null>;
}

interface Page {
  readonly items: readonly Notification[];
  readonly nextCursor: string | null;
}

/** More of them than this in one go are counted and not sent. */
const mostSent = maxLimit;
const firstPage = 20;
/**
 * Notifications are committed in another order than that of their ids: one that is this much older than the newest known
 * may still come. A transaction of the API is cut off long before.
 */
const lateMillis = 60_000;

const timeOf = (one: Notification | undefined): number => Date.parse(one?.createdAt ?? '');

const said = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;

export function createPersonalEvents(ask: AskFor): PersonalEvents {
  const { list, unreadCount } = registry.notifications;
  let counted = '';
  /** Those of the last page or pages; null before the first read. */
  let known: ReadonlySet<string> | null = null;
  let newest: number | null = null;

  /** Newest first: as far back as one may have come since the last read. */
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
        // Counted afterwards: whatever the count has beyond these comes with the next change.
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
