import { type Reaction } from '@muster/runtime';
import { writeNotifications } from './data/write-notifications.ts';
import { draftsOf } from './rules/notification-rules.ts';

/** The reaction that notifies members, by their inboxes. It goes out with COMMIT, so it costs no round trip. */
export const notify: Reaction = ({ db, actor, domainEvents }) => {
  const events = domainEvents
    .map((domainEvent) => draftsOf(domainEvent, actor))
    .filter((drafts) => drafts.length > 0);
  if (events.length > 0) db.later(writeNotifications(actor, events));
  return Promise.resolve();
};
