/** The inbox. Notifications that need a response come first. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useRef } from 'react';
import { type Notification } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useMarkRead } from '../data/inbox.ts';
import { needsAnswer } from '../data/needs.ts';
import { Icon } from '../components/icons.tsx';
import { usePageShortcuts } from '../components/keys.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { NextPageButton } from '../components/next-page.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { RowGroup, ListRow } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { inboxTexts } from '../messages/inbox.ts';
import { timeAgo, t } from '../messages/index.ts';
import { recentNotificationsQuery, unreadPagesQuery } from './inbox-queries.ts';

type MarkDone = (notifications: readonly Notification[]) => Promise<void>;

function useMarkDone(): MarkDone {
  const markRead = useMarkRead();
  return async (notifications) => {
    try {
      await markRead(notifications.map(({ id }) => id));
    } catch (error) {
      showNotice({ tone: 'bad', title: inboxTexts.notDone, body: errorText(error) });
    }
  };
}

/**
 * Marks all unread notifications as read, including those on pages that are not loaded. Notifications newer
 * than the shown ones stay unread.
 */
function useMarkAllDone(visibleNotifications: readonly Notification[]): () => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  return async () => {
    const before = visibleNotifications[0]?.createdAt;
    if (before === undefined) return;
    try {
      const { unread } = await client.notifications.markAllRead({ before });
      queries.setQueryData(['unread'], unread);
      await queries.invalidateQueries({ queryKey: ['inbox'] });
    } catch (error) {
      showNotice({ tone: 'bad', title: inboxTexts.notAllDone, body: errorText(error) });
    }
  };
}

/** Registers shortcuts that move between notifications and mark the focused one as read. */
function useRowShortcuts(
  list: RefObject<HTMLElement | null>,
  unread: readonly Notification[],
  markDone: MarkDone,
): void {
  const walk = (by: number) => () => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('a.row-title') ?? [])];
    const at = all.findIndex((entry) => entry === document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  usePageShortcuts({
    ...{ j: walk(1), k: walk(-1) },
    e: () => {
      const id = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'];
      void markDone(unread.filter((one) => one.id === id));
    },
  });
}

/**
 * Returns the facts below the title of a notification. The actor's name is omitted if the title already
 * contains it.
 */
function formatDetails({ actor, title, createdAt, body }: Notification): string {
  const name = actorNameOf(actor);
  return [title.includes(name) ? '' : name, timeAgo(createdAt), body]
    .filter((part) => part !== '')
    .join(' · ');
}

interface NotificationRowProps {
  readonly told: Notification;
  readonly done: MarkDone;
}

const NotificationRow = ({ told: notification, done: markDone }: NotificationRowProps) => (
  <ListRow
    id={notification.id}
    leadingElement={<Avatar name={notification.actor.name} kind={notification.actor.kind} />}
    storyKey={notification.subject?.type === 'story' ? notification.subject.key : null}
    title={notification.title}
    details={formatDetails(notification)}
    isNew={notification.readAt === null}
    actions={
      notification.readAt === null ? (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          onClick={() => void markDone([notification])}
        >
          {inboxTexts.done}
          <span className="sr-only"> {notification.title}</span>
        </button>
      ) : undefined
    }
  />
);

export function InboxPage() {
  useTitle(t.nav.inbox);
  const client = useClient();
  const pages = useInfiniteQuery(unreadPagesQuery(client));
  const recent = useQuery(recentNotificationsQuery(client));
  const failed = [pages, recent].find(({ isError }) => isError);
  const list = useRef<HTMLDivElement>(null);
  const unread = pages.data?.pages.flatMap(({ items }) => items) ?? [];
  const done = useMarkDone();
  const markAllDone = useMarkAllDone(unread);
  useRowShortcuts(list, unread, done);
  const row = (one: Notification) => <NotificationRow key={one.id} told={one} done={done} />;
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.inbox}</h1>
        <span className="grow" />
        <Link
          to="/settings/$section"
          params={{ section: 'notifications' }}
          className="icon-button"
          aria-label={inboxTexts.settings}
          title={inboxTexts.settings}
        >
          <Icon name="settings" />
        </Link>
        {unread.length > 0 && (
          <button type="button" className="button" onClick={() => void markAllDone()}>
            {inboxTexts.allDone}
          </button>
        )}
      </header>
      <div className="page">
        <div className="page-column" ref={list}>
          {failed !== undefined && (
            <LoadError
              error={failed.error}
              onRetry={() => {
                void pages.refetch();
                void recent.refetch();
              }}
            />
          )}
          {failed === undefined && (pages.isPending || recent.isPending) && (
            <Loading label={inboxTexts.loading} />
          )}
          {pages.isSuccess && unread.length === 0 && recent.data?.length === 0 && (
            <EmptyState title={inboxTexts.empty}>
              <p>{inboxTexts.emptyWhy}</p>
            </EmptyState>
          )}
          <RowGroup id="needs" title={inboxTexts.needs} items={unread.filter(needsAnswer)}>
            {row}
          </RowGroup>
          <RowGroup id="known" title={inboxTexts.known} items={unread.filter((one) => !needsAnswer(one))}>
            {row}
          </RowGroup>
          <NextPageButton query={pages} name={inboxTexts.older} />
          <RowGroup
            id="read"
            title={inboxTexts.read}
            items={recent.data?.filter(({ readAt }) => readAt !== null)}
          >
            {row}
          </RowGroup>
        </div>
      </div>
    </>
  );
}
