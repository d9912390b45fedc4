/** The inbox. Notifications that need a response come first. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useRef } from 'react';
import { type Notification } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useMarkRead } from '../data/inbox.ts';
import { needsAnswer } from '../data/needs.ts';
import { inboxQuery } from '../data/queries.ts';
import { Icon } from '../components/icons.tsx';
import { usePageKeys } from '../components/keys.ts';
import { notify, reasonFor } from '../components/notices.tsx';
import { Avatar, nameOf } from '../components/people.tsx';
import { Group, Row } from '../components/row.tsx';
import { Empty, Failed, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { b } from '../messages/inbox.ts';
import { ago, t } from '../messages/index.ts';

type Done = (notifications: readonly Notification[]) => Promise<void>;

function useDone(): Done {
  const markRead = useMarkRead();
  return async (notifications) => {
    try {
      await markRead(notifications.map(({ id }) => id));
    } catch (error) {
      notify({ tone: 'bad', title: b.notDone, body: reasonFor(error) });
    }
  };
}

/** Registers shortcuts that move between notifications and mark the focused one as read. */
function useRowKeys(list: RefObject<HTMLElement | null>, unread: readonly Notification[], done: Done): void {
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

/** Returns the facts below a title. Most titles already contain the actor's name. */
function factOf({ actor, title, createdAt, body }: Notification): string {
  const name = nameOf(actor);
  return [title.includes(name) ? '' : name, ago(createdAt), body].filter((part) => part !== '').join(' · ');
}

const Told = ({ told, done }: { readonly told: Notification; readonly done: Done }) => (
  <Row
    id={told.id}
    lead={<Avatar name={told.actor.name} kind={told.actor.kind} />}
    storyKey={told.subject?.type === 'story' ? told.subject.key : null}
    title={told.title}
    fact={factOf(told)}
    isNew={told.readAt === null}
    act={
      told.readAt === null ? (
        <button type="button" className="button" data-kind="quiet" onClick={() => void done([told])}>
          {b.done}
          <span className="sr-only"> {told.title}</span>
        </button>
      ) : undefined
    }
  />
);

export function InboxPage() {
  useTitle(t.nav.inbox);
  const inbox = useQuery(inboxQuery(useClient()));
  const list = useRef<HTMLDivElement>(null);
  const unread = inbox.data?.filter(({ readAt }) => readAt === null) ?? [];
  const done = useDone();
  useRowKeys(list, unread, done);
  const row = (one: Notification) => <Told key={one.id} told={one} done={done} />;
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
          <Group id="needs" title={b.needs} items={unread.filter(needsAnswer)}>
            {row}
          </Group>
          <Group id="known" title={b.known} items={unread.filter((one) => !needsAnswer(one))}>
            {row}
          </Group>
          <Group id="read" title={b.read} items={inbox.data?.filter(({ readAt }) => readAt !== null)}>
            {row}
          </Group>
        </div>
      </div>
    </>
  );
}
