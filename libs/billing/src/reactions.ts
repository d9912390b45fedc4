/**
 * Requests a new count of the seats from the worker after each change of members, roles, invitations or the
 * subscription.
 */
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent, outboxRow } from '@muster/tenancy';

const changesSeats = ({ kind }: DomainEvent): boolean =>
  kind.startsWith('member.') || kind.startsWith('invitation.') || kind === 'seats.changed';

export const seatReactions: EventReaction = async ({ db, domainEvents }) => {
  if (domainEvents.some(changesSeats)) db.deferToCommit(outboxRow('seats.recalculate', {}));
};
