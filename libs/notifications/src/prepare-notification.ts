/** What goes out of a notification beside the inbox. */
import { type Db, of, sql } from '@muster/database';
import { type NotificationKind } from '@muster/registry';
import { listChoices } from './data/preferences.ts';
import { channelsOf } from './rules/channels.ts';
import { excerpt } from './rules/excerpts.ts';

/** What to send. A channel that is absent is not wanted, or has nowhere to go. */
export interface Delivery {
  readonly email?: { readonly to: string; readonly subject: string; readonly text: string };
  /** The tokens are secrets of the devices. */
  readonly push?: { readonly tokens: readonly string[]; readonly title: string; readonly body: string };
}

interface Row {
  readonly kind: NotificationKind;
  readonly title: string;
  readonly body: string;
  readonly member_id: string;
  readonly email: string;
  readonly org_name: string;
  readonly push_tokens: string[];
}

/** A subject line that mail programs show whole, more or less. */
const longestSubject = 120;

/**
 * What of a notification is to be sent now, by what its member wants now. Null where there is nothing to send: it was
 * read meanwhile, or is gone, or the member is gone or may see its project no longer.
 */
export async function prepareNotification(db: Db, notificationId: string): Promise<Delivery | null> {
  const row = await db.find(
    sql<Row>`select n.kind, n.title, coalesce(b.message, n.body) as body, n.member_id, m.email, o.name as org_name,
         array(select d.push_token from devices d
           join tokens t on ${of('t')} and t.id = d.token_id
             and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
           where ${of('d')} and d.member_id = m.id and d.push_token is not null order by d.device_id) as push_tokens
       from notifications n
       join orgs o on o.id = n.org_id and o.deleted_at is null
       join members m on ${of('m')} and m.id = n.member_id and m.status = 'active'
       left join projects p on ${of('p')} and p.id = n.project_id
       left join broadcasts b on n.kind = 'broadcast' and ${of('b')} and b.id = (n.subject ->> 'id')::uuid
       where ${of('n')} and n.id = ${notificationId} and n.read_at is null
         and (n.project_id is null or app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)`,
  );
  if (row === undefined) return null;
  const channels = channelsOf(row.kind, await listChoices(db, row.member_id));
  const email = {
    to: row.email,
    subject: excerpt(`[${row.org_name}] ${row.title}`, longestSubject),
    text: [row.title, row.body, `You get this as a member of ${row.org_name} on Muster.`]
      .filter((paragraph) => paragraph !== '')
      .join('\n\n'),
  };
  const push = { tokens: row.push_tokens, title: row.title, body: excerpt(row.body, longestSubject) };
  const delivery = {
    ...(channels.email && { email }),
    ...(channels.push && push.tokens.length > 0 && { push }),
  };
  return Object.keys(delivery).length === 0 ? null : delivery;
}
