/**
 * Rate limiting of mails and pushes to one member that another member causes. A few are sent immediately.
 * Further ones are bundled into one message per kind, so that no member can flood another's mailbox. The
 * inbox receives all of them immediately.
 */
import { type Db, orgFilter, currentOrgId, sql } from '@muster/driver';

/**
 * The rate limit: `burst` messages from one author to one member immediately, and one more after every
 * `seconds`.
 */
export interface MessageRate {
  readonly burst: number;
  readonly seconds: number;
}

/**
 * The message that contains a notification and its time. `isLeading` is true if the message is the
 * notification's own, and false if it was bundled into an earlier one.
 */
export interface BundledMessage {
  readonly isLeading: boolean;
  readonly sendsAt: string;
}

/**
 * Decides which message contains a notification, and stores the decision. An advisory lock serializes these
 * decisions per organization. They use the time of the statement, because a transaction that waited for the
 * lock began before the messages that it finds.
 */
export async function bundleNotification(
  db: Db,
  notificationId: string,
  { burst, seconds }: MessageRate,
): Promise<BundledMessage> {
  const windowSeconds = burst * seconds;
  const [, bundled] = await Promise.all([
    db.all(sql`select pg_advisory_xact_lock(hashtextextended('messages of ' || ${currentOrgId}::text, 0))`),
    db.one(sql<BundledMessage>`with own as (
        select n.id, n.member_id, n.kind, n.actor ->> 'memberId' as author from notifications n
        where ${orgFilter('n')} and n.id = ${notificationId}),
      messages as (
        select o.id, o.sends_at, o.kind = own.kind and o.sends_at > statement_timestamp() as is_open from own
        join notifications o on ${orgFilter('o')} and o.member_id = own.member_id and o.sent_with = o.id
          and o.sends_at > now() - make_interval(secs => ${windowSeconds}) and o.actor ->> 'memberId' = own.author),
      open as (select id, sends_at from messages where is_open order by id limit 1),
      free as (
        select sends_at + make_interval(secs => ${windowSeconds}) as at from messages
        order by sends_at desc offset ${burst - 1} limit 1)
      update notifications n
      set sent_with = coalesce((select id from open), n.id),
        sends_at = coalesce((select sends_at from open), (select at from free), date_trunc('milliseconds', statement_timestamp()))
      where ${orgFilter('n')} and n.id = ${notificationId}
      returning n.sent_with = n.id as "isLeading", coalesce(n.sends_at, now()) as "sendsAt"`),
  ]);
  return bundled;
}
