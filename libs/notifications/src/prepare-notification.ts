/** The content of mails and pushes for notifications. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Device, type NotificationKind } from '@muster/contract';
import { listChannelChoices } from './data/preferences.ts';
import { channelsOf } from './rules/channels.ts';
import { excerpt } from './rules/excerpts.ts';

/** The messages to send. A channel is absent if the member does not want it or has no address for it. */
export interface PreparedMessages {
  readonly email?: {
    readonly to: string;
    readonly subject: string;
    readonly text: string;
    /** True if all listed notifications are about one story, so that a reply to the mail can become a comment on it. */
    readonly isReplyable: boolean;
  };
  readonly push?: PreparedPush;
}

/** A message to devices and to chat channels. */
export interface PreparedPush {
  readonly devices: readonly PushDevice[];
  readonly title: string;
  /** The beginning of the text, for the small space on a device. */
  readonly body: string;
  /** The text for chat channels, which lists all notifications of the message. */
  readonly text: string;
  /** The key of the story that the first notification is about; null for other subjects. */
  readonly storyKey: string | null;
  /** The open question that the only notification is about; null for other messages. */
  readonly question: NotifiedQuestion | null;
}

export interface NotifiedQuestion {
  readonly id: string;
  readonly body: string;
  /** The answers that it offers. */
  readonly options: readonly string[];
}

export interface PushDevice {
  readonly id: string;
  readonly platform: Device['platform'];
  /** The secret of the device: its push token, or the encrypted URL of a chat channel. */
  readonly token: string;
}

interface MessageRow {
  readonly kind: NotificationKind;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly member_id: string;
  readonly email: string;
  readonly org_name: string;
  readonly story_key: string | null;
  readonly devices: PushDevice[];
  readonly question: NotifiedQuestion | null;
  /** The number of notifications in the message, of which only the first ones are read. */
  readonly total: number;
}

/** The maximum number of notifications that one message lists. The inbox has the others. */
const maxListedNotifications = 50;

/** The maximum length of a subject line. Most mail programs show it completely. */
const maxSubjectLength = 120;

/**
 * Reads a notification and the first of the notifications bundled with it, with the member's current rights.
 */
const messageRowsQuery = (notificationId: string) => sql<MessageRow>`
  select n.kind, n.title, coalesce(b.message, n.body) as body, n.actor ->> 'name' as author, n.member_id, m.email,
    o.name as org_name,
    case n.subject ->> 'type' when 'story' then n.subject ->> 'key' end as story_key,
    (select coalesce(json_agg(r), '[]') from (select d.id, d.platform, d.push_token as token from devices d
      where ${orgFilter('d')} and d.member_id = m.id and d.push_token is not null
        and (d.token_id is null or exists (select from tokens t where ${orgFilter('t')} and t.id = d.token_id
          and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))) order by d.device_id) r) as devices,
    case when count(*) over () = 1 then (select jsonb_build_object('id', c.id, 'body', c.body, 'options', c.options) from comments c
      where ${orgFilter('c')} and c.id = n.comment_id and c.kind = 'question' and c.parent_id is null
        and c.resolved_at is null and c.deleted_at is null) end as question,
    (count(*) over ())::integer as total
  from notifications n
  join orgs o on o.id = n.org_id and o.deleted_at is null
  join members m on ${orgFilter('m')} and m.id = n.member_id and m.status = 'active'
  left join projects p on ${orgFilter('p')} and p.id = n.project_id
  left join broadcasts b on n.kind = 'broadcast' and ${orgFilter('b')} and b.id = (n.subject ->> 'id')::uuid
  where ${orgFilter('n')} and n.id in (
      select ${notificationId}::uuid
      union all
      select w.id from notifications l join notifications w on ${orgFilter('w')} and w.member_id = l.member_id
        and w.sends_at = l.sends_at and w.sent_with = l.id
      where ${orgFilter('l')} and l.id = ${notificationId})
    and n.read_at is null
    and (n.project_id is null or app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)
  order by n.id limit ${maxListedNotifications}`;

/** Returns the title of the only notification, or the number of notifications from the author. */
const titleOf = ({ title, total, author }: MessageRow): string =>
  total === 1 ? title : `${total} notifications from ${author}`;

/**
 * Prepares the messages for a notification and those bundled with it. Returns null if there is nothing to
 * send, because the notification was read or deleted, or because the member was removed or lost access to its
 * project.
 */
export async function prepareNotification(db: Db, notificationId: string): Promise<PreparedMessages | null> {
  const rows = await db.all(messageRowsQuery(notificationId));
  const [first] = rows;
  if (first === undefined) return null;
  const wanted = channelsOf(first.kind, await listChannelChoices(db, first.member_id));
  const email = wanted.email && toEmail(first, rows);
  const push = wanted.push && toPush(first, rows);
  const delivery = { ...(email && { email }), ...(push && { push }) };
  return Object.keys(delivery).length === 0 ? null : delivery;
}

function toEmail(first: MessageRow, rows: readonly MessageRow[]): PreparedMessages['email'] {
  const unshown = first.total - rows.length;
  return {
    to: first.email,
    subject: excerpt(`[${first.org_name}] ${titleOf(first)}`, maxSubjectLength),
    text: [
      ...rows.flatMap(({ title, body }) => [title, body]),
      unshown === 0 ? '' : `And ${unshown} more in your inbox.`,
      `You get this as a member of ${first.org_name} on Muster.`,
    ]
      .filter((paragraph) => paragraph !== '')
      .join('\n\n'),
    isReplyable:
      unshown === 0 &&
      first.story_key !== null &&
      rows.every(({ story_key: key }) => key === first.story_key),
  };
}

function toPush(first: MessageRow, rows: readonly MessageRow[]): PreparedMessages['push'] {
  if (first.devices.length === 0) return undefined;
  return {
    devices: first.devices,
    title: titleOf(first),
    body: excerpt(first.body, maxSubjectLength),
    text: first.total === 1 ? first.body : rows.map(({ title }) => title).join('\n'),
    storyKey: first.story_key,
    question: first.question,
  };
}
