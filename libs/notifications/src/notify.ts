import { type Db } from '@muster/driver';
import { type Actor, type EventData, type Subject } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import {
  markAccessRequestRead,
  withdrawNotificationsOfComment,
  withdrawNotificationsOfStory,
} from './data/withdraw.ts';
import { writeInbox } from './data/write-inbox.ts';
import { writeNotifications } from './data/write-notifications.ts';
import { inboxDraftsOf } from './rules/inbox-rules.ts';
import { draftsOf, seatLimitDrafts } from './rules/notification-rules.ts';

/**
 * The reaction that writes notifications and inbox items for events, and withdraws notifications about deleted or
 * decided subjects.
 * Its statements are sent with COMMIT, so it costs no round trip.
 */
export const notificationReaction: EventReaction = ({ db, actor, domainEvents }) => {
  const events = domainEvents
    .map((domainEvent) => draftsOf(domainEvent, actor))
    .filter((drafts) => drafts.length > 0);
  if (events.length > 0) db.deferToCommit(writeNotifications(actor, events));
  for (const { kind, subject, data } of domainEvents) {
    if (kind === 'comment.deleted')
      withdrawNotificationsOfComment(db, (data as EventData<'comment.deleted'>).commentId);
    if (kind === 'story.deleted') withdrawNotificationsOfStory(db, subject);
    if (kind === 'access.resolved')
      markAccessRequestRead(db, subject.projectId, (data as EventData<'access.resolved'>).memberId);
  }
  // Locks the inboxes after the unread counts, as every transaction does.
  const inbox = domainEvents.flatMap((domainEvent) => inboxDraftsOf(domainEvent, actor));
  if (inbox.length > 0) db.deferToCommit(writeInbox(actor, inbox));
  return Promise.resolve(undefined);
};

/**
 * Notifies the owner and the admins that no seat is left, for cases that the worker detects without an event.
 */
export const notifyNoSeatsLeft = (db: Db, actor: Actor, subscription: Subject): void => {
  db.deferToCommit(writeNotifications(actor, [seatLimitDrafts({ subject: subscription })]));
};
