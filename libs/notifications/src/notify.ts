import { type Db } from '@muster/database';
import { type Actor, type Subject } from '@muster/registry';
import { type Reaction } from '@muster/runtime';
import { writeNotifications } from './data/write-notifications.ts';
import { draftsOf, outOfSeats } from './rules/notification-rules.ts';

/** The reaction that notifies members, by their inboxes. It goes out with COMMIT, so it costs no round trip. */
export const notify: Reaction = ({ db, actor, domainEvents }) => {
  const events = domainEvents
    .map((domainEvent) => draftsOf(domainEvent, actor))
    .filter((drafts) => drafts.length > 0);
  if (events.length > 0) db.later(writeNotifications(actor, events));
  return Promise.resolve(undefined);
};

/** Notifies the owner and the admins that no seat is left, where the worker finds that and no event said so. */
export const notifySeatLimit = (db: Db, actor: Actor, subscription: Subject): void => {
  db.later(writeNotifications(actor, [outOfSeats({ subject: subscription })]));
};
