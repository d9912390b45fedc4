/** The inbox. Notifications that need a response come first. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useRef } from 'react';
import { type Notification } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useMarkRead } from '../data/inbox.ts';
import { needsAnswer } from '../data/needs.ts';
import { Icon } from '../components/icons.tsx';
import { usePageKeys } from '../components/keys.ts';
import { notify, errorText } from '../components/notices.tsx';
import { Avatar, nameOf } from '../components/people.tsx';
import { Group, Row } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { inboxTexts } from '../messages/inbox.ts';
import { timeAgo, t } from '../messages/index.ts';
import { recentQuery, unreadPagesQuery } from './inbox-queries.ts';

type MarkDone = (notifications: readonly Notification[]) => Promise<void>;

function useMarkDone(): MarkDone {
  const markRead = useMarkRead();
  return async (notifications) => {
    try {
      await markRead(notifications.map(({ id }) => id));
    } catch (error) {
      notify({ tone: 'bad', title: inboxTexts.notDone, body: errorText(error) });
    }
  };
}

/**
 * Marks all unread notifications as read, including those on pages that are not loaded. Notifications newer
 * than the shown ones stay unread.
 */
function useMarkAllDone(shown: readonly Notification[]): () => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  return async () => {
    const before = shown[0]?.createdAt;
    if (before === undefined) return;
    try {
      const { unread } = await client.notifications.markAllRead({ before });
      queries.setQueryData(['unread'], unread);
      await queries.invalidateQueries({ queryKey: ['inbox'] });
    } catch (error) {
      notify({ tone: 'bad', title: inboxTexts.notAllDone, body: errorText(error) });
    }
  };
}

/** Registers shortcuts that move between notifications and mark the focused one as read. */
function useRowKeys(
  list: RefObject<HTMLElement | null>,
  unread: readonly Notification[],
  done: MarkDone,
): void {
  const walk = (by: number) => () => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('a.row-title') ?? [])];
    const at = all.findIndex((entry) => entry === document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  usePageKeys({
    ...{ j: walk(1), k: walk(-1) },
    e: () => {
      const id = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'];
      void done(unread.filter((one) => one.id === id));
    },
  });
}

/**
 * Returns the facts below the title of a notification. The actor's name is omitted if the title already
 * contains it.
 */
function detailsOf({ actor, title, createdAt, body }: Notification): string {
  const name = nameOf(actor);
  return [title.includes(name) ? '' : name, timeAgo(createdAt), body]
    .filter((part) => part !== '')
    .join(' · ');
}

const NotificationRow = ({ told, done }: { readonly told: Notification; readonly done: MarkDone }) => (
  <Row
    id={told.id}
    lead={<Avatar name={told.actor.name} kind={told.actor.kind} />}
    storyKey={told.subject?.type === 'story' ? told.subject.key : null}
    title={told.title}
    fact={detailsOf(told)}
    isNew={told.readAt === null}
    act={
      told.readAt === null ? (
        <button type="button" className="button" data-kind="quiet" onClick={() => void done([told])}>
          {inboxTexts.done}
          <span className="sr-only"> {told.title}</span>
        </button>
      ) : undefined
    }
  />
);

export function InboxPage() {
  useTitle(t.nav.inbox);
  const client = useClient();
  const pages = useInfiniteQuery(unreadPagesQuery(client));
  const recent = useQuery(recentQuery(client));
  const failed = [pages, recent].find(({ isError }) => isError);
  const list = useRef<HTMLDivElement>(null);
  const unread = pages.data?.pages.flatMap(({ items }) => items) ?? [];
  const done = useMarkDone();
  const markAllDone = useMarkAllDone(unread);
  useRowKeys(list, unread, done);
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
              again={() => {
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
          <Group id="needs" title={inboxTexts.needs} items={unread.filter(needsAnswer)}>
            {row}
          </Group>
          <Group id="known" title={inboxTexts.known} items={unread.filter((one) => !needsAnswer(one))}>
            {row}
          </Group>
          {pages.hasNextPage && (
            <button
              type="button"
              className="button"
              disabled={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              {inboxTexts.older}
            </button>
          )}
          <Group
            id="read"
            title={inboxTexts.read}
            items={recent.data?.filter(({ readAt }) => readAt !== null)}
          >
            {row}
          </Group>
        </div>
      </div>
    </>
  );
}
