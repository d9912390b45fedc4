/** Classifies notifications by whether they need a response. */
import { type Notification } from '@muster/contract';

type NotificationKind = Notification['kind'];

/**
 * The kinds of notifications that the page My work lists as notifications. It shows the others as a review, an
 * offer or stalled work.
 */
const notificationOnlyKinds: ReadonlySet<NotificationKind> = new Set<NotificationKind>([
  'mention',
  'access_requested',
  'seat_limit',
  'webhook_paused',
  'forge_failing',
  'merge_reverted',
  'budget_warning',
]);
const otherwiseListedKinds: ReadonlySet<NotificationKind> = new Set<NotificationKind>([
  'review_requested',
  'handoff',
  'lease_expired',
]);

export const needsAnswer = ({ kind }: Pick<Notification, 'kind'>): boolean =>
  notificationOnlyKinds.has(kind) || otherwiseListedKinds.has(kind);

export const isNotificationOnly = ({ kind }: Notification): boolean => notificationOnlyKinds.has(kind);
