/** The rows of the inbox: a notification, or several about the same story that unfold. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Notification } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useMarkRead } from '../data/inbox.ts';
import { serverNow } from '../data/time.ts';
import { Menu } from '../components/menu.tsx';
import { announceToScreenReader, errorText, showNotice } from '../components/notices.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { ListRow } from '../components/row.tsx';
import { inboxTexts } from '../messages/inbox.ts';
import { formatDateTime, timeAgo } from '../messages/index.ts';
import { type NotificationBundle, snoozeEnd, snoozePeriods } from './inbox-bundles.ts';

export interface InboxActions {
  readonly markDone: (notifications: readonly Notification[]) => Promise<void>;
  /** Hides the notifications until a time, or brings them back if it is null. */
  readonly snooze: (notifications: readonly Notification[], until: Date | null) => Promise<void>;
}

export function useInboxActions(): InboxActions {
  const client = useClient();
  const queries = useQueryClient();
  const markRead = useMarkRead();
  return {
    markDone: async (notifications) => {
      try {
        await markRead(notifications.map(({ id }) => id));
      } catch (error) {
        showNotice({ tone: 'bad', title: inboxTexts.notDone, body: errorText(error) });
      }
    },
    snooze: async (notifications, until) => {
      const time = until?.toISOString() ?? null;
      try {
        const notificationIds = notifications.map(({ id }) => id);
        const { unread } = await client.notifications.snooze({ notificationIds, until: time });
        queries.setQueryData(['unread'], unread);
        announceToScreenReader(time === null ? inboxTexts.isBack : inboxTexts.snoozed(formatDateTime(time)));
      } catch (error) {
        showNotice({ tone: 'bad', title: inboxTexts.notSnoozed, body: errorText(error) });
      }
      await queries.invalidateQueries({ queryKey: ['inbox'] });
    },
  };
}

interface SnoozeMenuProps extends Pick<InboxActions, 'snooze'> {
  readonly notifications: readonly Notification[];
  readonly name: string;
}

const SnoozeMenu = ({ notifications, name, snooze }: SnoozeMenuProps) => (
  <Menu
    label={inboxTexts.snoozeName(name)}
    className="button snooze-button"
    kind="quiet"
    items={() =>
      snoozePeriods.map((period) => {
        const end = snoozeEnd(period, serverNow());
        return {
          id: period,
          name: `${inboxTexts.periods[period]} · ${formatDateTime(end.toISOString())}`,
          run: () => void snooze(notifications, end),
        };
      })
    }
  >
    {inboxTexts.snooze}
  </Menu>
);

const DoneButton = ({ name, onDone }: { readonly name: string; readonly onDone: () => void }) => (
  <button type="button" className="button" data-kind="quiet" onClick={onDone}>
    {inboxTexts.done}
    <span className="sr-only"> {name}</span>
  </button>
);

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

/** Returns where the title of a notification leads. A warning about a budget leads to the budgets. */
const toRowTarget = ({ kind, subject }: Notification) =>
  kind === 'budget_warning'
    ? { storyKey: null, settingsSection: 'budgets' }
    : { storyKey: subject?.type === 'story' ? subject.key : null };

interface NotificationRowProps {
  readonly notification: Notification;
  readonly actions: InboxActions;
}

export const NotificationRow = ({ notification, actions: { markDone, snooze } }: NotificationRowProps) => (
  <ListRow
    id={notification.id}
    leadingElement={<Avatar name={notification.actor.name} kind={notification.actor.kind} />}
    {...toRowTarget(notification)}
    title={notification.title}
    details={formatDetails(notification)}
    isNew={notification.readAt === null}
    actions={
      notification.readAt === null ? (
        <>
          <SnoozeMenu notifications={[notification]} name={notification.title} snooze={snooze} />
          <DoneButton name={notification.title} onDone={() => void markDone([notification])} />
        </>
      ) : undefined
    }
  />
);

interface BundleRowProps {
  readonly bundle: NotificationBundle;
  readonly actions: InboxActions;
}

/** A row for all notifications about a story. It unfolds into one row for each. */
export function BundleRow({ bundle: { notifications }, actions }: BundleRowProps) {
  const [isOpen, setOpen] = useState(false);
  const [newest, ...others] = notifications;
  if (others.length === 0) return <NotificationRow notification={newest} actions={actions} />;
  const name = newest.subject?.title ?? newest.title;
  return (
    <>
      <ListRow
        id={notifications.map(({ id }) => id).join(' ')}
        leadingElement={<Avatar name={newest.actor.name} kind={newest.actor.kind} />}
        storyKey={newest.subject?.key ?? null}
        title={name}
        details={`${inboxTexts.count(notifications.length)} · ${newest.title} · ${timeAgo(newest.createdAt)}`}
        isNew
        actions={
          <>
            <button
              type="button"
              className="button"
              data-kind="quiet"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? inboxTexts.fold : inboxTexts.unfold}
              <span className="sr-only"> {name}</span>
            </button>
            <SnoozeMenu notifications={notifications} name={name} snooze={actions.snooze} />
            <DoneButton name={name} onDone={() => void actions.markDone(notifications)} />
          </>
        }
      />
      {isOpen && (
        <li className="row-bundle">
          <ul className="rows" aria-label={inboxTexts.about(name)}>
            {notifications.map((notification) => (
              <NotificationRow key={notification.id} notification={notification} actions={actions} />
            ))}
          </ul>
        </li>
      )}
    </>
  );
}

/** A snoozed notification with its time, and the button that brings it back. */
export const SnoozedRow = ({ notification, actions }: NotificationRowProps) => (
  <ListRow
    leadingElement={<Avatar name={notification.actor.name} kind={notification.actor.kind} />}
    {...toRowTarget(notification)}
    title={notification.title}
    details={
      notification.snoozedUntil === null ? '' : inboxTexts.until(formatDateTime(notification.snoozedUntil))
    }
    actions={
      <button
        type="button"
        className="button"
        data-kind="quiet"
        onClick={() => void actions.snooze([notification], null)}
      >
        {inboxTexts.bringBack}
        <span className="sr-only"> {notification.title}</span>
      </button>
    }
  />
);
