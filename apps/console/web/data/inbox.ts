/** Marks notifications as read when the reader acts on other pages. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { type Notification } from '@muster/contract';
import { widestScope } from '../settings/rights.ts';
import { useClient, useIdentity } from './context.ts';
import { unreadNotificationsQuery, unreadCountQuery } from './queries.ts';

type NotificationIds = readonly string[];

export function useMarkRead(): (notificationIds: NotificationIds) => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  return async (notificationIds) => {
    if (notificationIds.length === 0) return;
    const { unread } = await client.notifications.markRead({ notificationIds: [...notificationIds] });
    queries.setQueryData(['unread'], unread);
    await queries.invalidateQueries({ queryKey: ['inbox'] });
  };
}

/** Marks the notification of an offer as read once its addressee has taken the work. */
export function useMarkOfferRead(): (targetId: string) => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  const markRead = useMarkRead();
  return async (targetId) => {
    const inbox = await queries.query(unreadNotificationsQuery(client));
    await markRead(
      inbox.filter(({ kind, subject }) => kind === 'handoff' && subject?.id === targetId).map(({ id }) => id),
    );
  };
}

const subscribeToVisibility = (onChange: () => void): (() => void) => {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
};

/**
 * Marks the unread notifications about a story as read while its page is visible. Those of the pending kinds
 * stay unread, because their decision has not been made yet.
 */
export function useMarkStoryNotificationsRead(
  storyKey: string,
  pendingKinds: readonly Notification['kind'][],
): void {
  const client = useClient();
  const { agent, token } = useIdentity();
  const markRead = useMarkRead();
  const isReader = agent === null && widestScope(token.scopes) !== 'read';
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
  const unread = useQuery({ ...unreadCountQuery(client), enabled: isReader }).data ?? 0;
  const inbox = useQuery({ ...unreadNotificationsQuery(client), enabled: isReader && unread > 0 }).data ?? [];
  const read = inbox.filter(
    ({ subject, kind }) =>
      subject?.type === 'story' && subject.key === storyKey && !pendingKinds.includes(kind),
  );
  const ids = isVisible && isReader ? read.map(({ id }) => id).join(' ') : '';
  useEffect(() => {
    // If the call fails, the notifications stay unread.
    if (ids !== '') markRead(ids.split(' ')).catch(() => undefined);
  }, [ids]);
}
