/** Classifies notifications by whether they need a response. */
import { type Notification } from '@muster/registry';

type Kind = Notification['kind'];

/**
 * The kinds of notifications that the page Now lists as notifications. It shows the others as a review, an
 * offer or stalled work.
 */
const onlyNotified: ReadonlySet<Kind> = new Set<Kind>([
  'mention',
  'access_requested',
  'seat_limit',
  'webhook_paused',
  'forge_failing',
  'merge_reverted',
]);
const alsoListed: ReadonlySet<Kind> = new Set<Kind>(['review_requested', 'handoff', 'lease_expired']);

export const needsAnswer = ({ kind }: Pick<Notification, 'kind'>): boolean =>
  onlyNotified.has(kind) || alsoListed.has(kind);

export const isOnlyNotified = ({ kind }: Notification): boolean => onlyNotified.has(kind);
