/** The inbox. Notifications that need a response come first. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';
import { type Notification } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { needsAnswer } from '../data/needs.ts';
import { serverNow } from '../data/time.ts';
import { Icon } from '../components/icons.tsx';
import { usePageShortcuts } from '../components/keys.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { NextPageButton } from '../components/next-page.tsx';
import { RowGroup } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { inboxTexts } from '../messages/inbox.ts';
import { t } from '../messages/index.ts';
import { bundleByStory, type NotificationBundle } from './inbox-bundles.ts';
import { recentNotificationsQuery, snoozedNotificationsQuery, unreadPagesQuery } from './inbox-queries.ts';
import { BundleRow, type InboxActions, NotificationRow, SnoozedRow, useInboxActions } from './inbox-rows.tsx';

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

/** Registers shortcuts that move between notifications, and mark the focused one as read or snooze it. */
function useRowShortcuts(
  list: RefObject<HTMLElement | null>,
  unread: readonly Notification[],
  { markDone }: InboxActions,
): void {
  const focusedRow = () => document.activeElement?.closest<HTMLElement>('[data-row]');
  const walk = (by: number) => () => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('a.row-title') ?? [])];
    const at = all.findIndex((entry) => entry === document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  usePageShortcuts({
    ...{ j: walk(1), k: walk(-1) },
    e: () => {
      const ids = focusedRow()?.dataset['row']?.split(' ') ?? [];
      void markDone(unread.filter(({ id }) => ids.includes(id)));
    },
    s: () => focusedRow()?.querySelector<HTMLElement>('.snooze-button')?.click(),
  });
}

/** Refetches the inbox when the next snoozed notification comes back. */
function useWakeUp(snoozed: readonly Notification[]): void {
  const queries = useQueryClient();
  const next = snoozed
    .map(({ snoozedUntil }) => snoozedUntil)
    .filter((time) => time !== null)
    .sort()[0];
  useEffect(() => {
    if (next === undefined) return;
    // A timer cannot run longer than this. The page is then loaded again before the time comes.
    const delayMs = Math.min(Date.parse(next) - serverNow() + 500, 2 ** 31 - 1);
    const timer = setTimeout(() => {
      void queries.invalidateQueries({ queryKey: ['inbox'] });
      void queries.invalidateQueries({ queryKey: ['unread'] });
    }, delayMs);
    return () => clearTimeout(timer);
  }, [next, queries]);
}

interface InboxHeaderProps {
  readonly hasUnread: boolean;
  readonly onAllDone: () => Promise<void>;
}

const InboxHeader = ({ hasUnread, onAllDone }: InboxHeaderProps) => (
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
    {hasUnread && (
      <button type="button" className="button" onClick={() => void onAllDone()}>
        {inboxTexts.allDone}
      </button>
    )}
  </header>
);

export function InboxPage() {
  useTitle(t.nav.inbox);
  const client = useClient();
  const pages = useInfiniteQuery(unreadPagesQuery(client));
  const recent = useQuery(recentNotificationsQuery(client));
  const failed = [pages, recent].find(({ isError }) => isError);
  const list = useRef<HTMLDivElement>(null);
  const unread = pages.data?.pages.flatMap(({ items }) => items) ?? [];
  const snoozed = useQuery(snoozedNotificationsQuery(client)).data ?? [];
  const actions = useInboxActions();
  const markAllDone = useMarkAllDone(unread);
  useRowShortcuts(list, unread, actions);
  useWakeUp(snoozed);
  const bundleRow = (bundle: NotificationBundle) => (
    <BundleRow key={bundle.id} bundle={bundle} actions={actions} />
  );
  return (
    <>
      <InboxHeader hasUnread={unread.length > 0} onAllDone={markAllDone} />
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
          {pages.isSuccess && unread.length + snoozed.length === 0 && recent.data?.length === 0 && (
            <EmptyState title={inboxTexts.empty}>
              <p>{inboxTexts.emptyWhy}</p>
            </EmptyState>
          )}
          <RowGroup id="needs" title={inboxTexts.needs} items={bundleByStory(unread.filter(needsAnswer))}>
            {bundleRow}
          </RowGroup>
          <RowGroup
            id="known"
            title={inboxTexts.known}
            items={bundleByStory(unread.filter((one) => !needsAnswer(one)))}
          >
            {bundleRow}
          </RowGroup>
          <NextPageButton query={pages} name={inboxTexts.older} />
          <RowGroup id="snoozed" title={inboxTexts.snoozedTitle} items={snoozed}>
            {(one) => <SnoozedRow key={one.id} notification={one} actions={actions} />}
          </RowGroup>
          <RowGroup
            id="read"
            title={inboxTexts.read}
            items={recent.data?.filter(({ readAt }) => readAt !== null)}
          >
            {(one) => <NotificationRow key={one.id} notification={one} actions={actions} />}
          </RowGroup>
        </div>
      </div>
    </>
  );
}
