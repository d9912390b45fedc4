/** What one was told: what needs an answer before what is good to know. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { type Notification } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { needsAnswer } from '../data/needs.ts';
import { inboxQuery } from '../data/queries.ts';
import { Icon } from '../parts/icons.tsx';
import { usePageKeys } from '../parts/keys.ts';
import { notify, reasonFor } from '../parts/notices.tsx';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Group, Row } from '../parts/row.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { useTitle } from '../parts/title.ts';
import { b } from '../texts/inbox.ts';
import { ago, t } from '../texts/index.ts';

export function InboxPage() {
  useTitle(t.nav.inbox);
  const client = useClient();
  const queries = useQueryClient();
  const inbox = useQuery(inboxQuery(client));
  const list = useRef<HTMLDivElement>(null);
  const unread = inbox.data?.filter(({ readAt }) => readAt === null) ?? [];
  const read = inbox.data?.filter(({ readAt }) => readAt !== null) ?? [];
  const needed = unread.filter(needsAnswer);
  const known = unread.filter((one) => !needsAnswer(one));

  const done = async (items: readonly Notification[]): Promise<void> => {
    if (items.length === 0) return;
    try {
      const { unread: left } = await client.notifications.markRead({
        notificationIds: items.map(({ id }) => id),
      });
      queries.setQueryData(['unread'], left);
      await queries.invalidateQueries({ queryKey: ['inbox'] });
    } catch (error) {
      notify({ tone: 'bad', title: b.notDone, body: reasonFor(error) });
    }
  };
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>('a.row-title') ?? [])];
  const walk = (by: number) => () => {
    const all = entries();
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

  const row = (one: Notification) => (
    <Row
      key={one.id}
      id={one.id}
      lead={<Avatar name={one.actor.name} kind={one.actor.kind} />}
      storyKey={one.subject?.type === 'story' ? one.subject.key : null}
      title={one.title}
      fact={[nameOf(one.actor), ago(one.createdAt), one.body].filter((part) => part !== '').join(' · ')}
      isNew={one.readAt === null}
      act={
        one.readAt === null ? (
          <button type="button" className="button" data-kind="quiet" onClick={() => void done([one])}>
            {b.done}
            <span className="sr-only"> {one.title}</span>
          </button>
        ) : undefined
      }
    />
  );
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.inbox}</h1>
        <span className="grow" />
        <Link
          to="/settings/$section"
          params={{ section: 'notifications' }}
          className="icon-button"
          aria-label={b.settings}
          title={b.settings}
        >
          <Icon name="settings" />
        </Link>
        {unread.length > 0 && (
          <button type="button" className="button" onClick={() => void done(unread)}>
            {b.allDone}
          </button>
        )}
      </header>
      <div className="page">
        <div className="page-column" ref={list}>
          {inbox.isError && <Failed error={inbox.error} again={() => void inbox.refetch()} />}
          {inbox.isPending && <Loading label={b.loading} />}
          {inbox.data?.length === 0 && (
            <Empty title={b.empty}>
              <p>{b.emptyWhy}</p>
            </Empty>
          )}
          {needed.length > 0 && (
            <Group id="needs" title={b.needs}>
              {needed.map(row)}
            </Group>
          )}
          {known.length > 0 && (
            <Group id="known" title={b.known}>
              {known.map(row)}
            </Group>
          )}
          {read.length > 0 && (
            <Group id="read" title={b.read}>
              {read.map(row)}
            </Group>
          )}
        </div>
      </div>
    </>
  );
}
