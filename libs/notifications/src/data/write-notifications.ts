/**
 * Writes all notifications of a transaction with one statement: inbox entries, and jobs for e-mail and push.
 */
import { orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type Actor, type NotificationChannel } from '@muster/contract';
import { defaultChannels } from '../rules/channels.ts';
import { maxBodyLength, mutableKinds, type NotificationDraft } from '../rules/notification-rules.ts';
import { recipientQueries } from './recipients.ts';
import { disableCountTrigger } from './unread-counts.ts';

/** The drafts of one event, in the order of their priority. */
export type EventDrafts = readonly NotificationDraft[];

const draftColumns = sql.part`event int, nth int, recipients text, ids uuid[], kind text, project_id uuid, subject jsonb,
  title text, body text, comment_id uuid, inbox boolean, email boolean, push boolean, digest boolean`;

/** The member's choice for a channel of the draft's kind, or else the default in the draft. */
const isChannelEnabledSql = (channel: NotificationChannel): Part =>
  sql.part`coalesce((select c.enabled from notification_preferences c where ${orgFilter('c')} and c.member_id = m.id
    and c.kind = w.kind and c.channel = ${channel}), w.${sql.word(channel)})`;

/**
 * SQL for the body of the notification. For a broadcast the body is the message of the broadcast. For other
 * notifications the draft contains the body.
 */
const bodySql = sql.part`coalesce((
  select case when length(b.message) <= ${sql.literal(maxBodyLength)} then b.message else left(b.message, ${sql.literal(maxBodyLength - 1)}) || '…' end
  from broadcasts b where w.recipients = 'broadcast' and ${orgFilter('b')} and b.id = w.ids[1]), w.body)`;

/**
 * Returns the statement that writes notifications. Each member receives at most one per event, by the first
 * draft that includes them. The acting member and the owner of an acting agent are excluded. The exceptions are
 * budget warnings, and an agent that names its own member or another agent of theirs. Members who muted the
 * story get only what is addressed to them. Only members who may see the project after this transaction are
 * notified.
 */
export function writeNotifications(actor: Actor, draftsByEvent: readonly EventDrafts[]): Query<unknown> {
  const wanted = draftsByEvent.flatMap((drafts, event) =>
    drafts.map(({ recipients, projectId, commentId, ...draft }, nth) => ({
      ...draft,
      event,
      nth,
      recipients,
      project_id: projectId,
      ...(commentId !== undefined && { comment_id: commentId }),
      ...defaultChannels(draft.kind),
    })),
  );
  const reached = [...new Set(wanted.map((draft) => draft.recipients))].sort().map(
    (recipients) =>
      sql.part`select w.event, w.nth, r.member_id from wanted w cross join lateral (${recipientQueries[recipients]}) r(member_id)
         where w.recipients = ${recipients}`,
  );
  return sql`with wanted as materialized (select * from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(${draftColumns})),
     reached as (${sql.join(reached, ' union all ')}),
     told as (
       select distinct on (w.event, m.id) w.event, w.kind, w.project_id, w.comment_id, w.subject, w.title, ${bodySql} as body,
         m.id as member_id, ${isChannelEnabledSql('inbox')} as in_inbox,
         ${isChannelEnabledSql('email')} or ${isChannelEnabledSql('push')} as goes_out,
         ${isChannelEnabledSql('digest')} as in_digest
       from reached r
       join wanted w on w.event = r.event and w.nth = r.nth
       join members m on ${orgFilter('m')} and m.id = r.member_id and m.status = 'active'
       left join projects p on ${orgFilter('p')} and p.id = w.project_id
       where (m.id is distinct from ${actor.memberId}::uuid or w.kind = 'budget_warning'
           or (${actor.agentId}::uuid is not null and (w.recipients = 'members'
             or (w.recipients = 'agents' and not ${actor.agentId}::uuid = any (w.ids)))))
         and not (w.kind = any (${mutableKinds}::text[]) and w.subject ->> 'type' = 'story' and exists (
           select from story_subscriptions x where ${orgFilter('x')} and x.story_id = (w.subject ->> 'id')::uuid
             and x.member_id = m.id and not x.subscribed))
         and (w.project_id is null
           or (p.id is not null and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null))
       order by w.event, m.id, w.nth),
     timed as materialized (
       select t.*, date_trunc('milliseconds', clock_timestamp()) as at from told t
       where t.in_inbox or t.goes_out or t.in_digest order by t.event, t.member_id),
     by_hand as materialized (${disableCountTrigger}),
     numbered as materialized (select t.*, app.new_id(t.at) as id from timed t),
     written as (
       insert into notifications (org_id, id, member_id, project_id, comment_id, kind, title, body, subject, actor, in_inbox, created_at)
       select ${currentOrgId}, n.id, n.member_id, n.project_id, n.comment_id, n.kind, n.title, n.body, n.subject, ${actor}::jsonb, n.in_inbox, n.at
       from numbered n, by_hand),
     counted as (
       insert into notification_counts as c (org_id, member_id, kind, project_id, unread, changes)
       select ${currentOrgId}, n.member_id, n.kind, n.project_id, count(*), 1 from numbered n where n.in_inbox
       group by n.member_id, n.kind, n.project_id order by n.member_id, n.kind, coalesce(n.project_id, ${currentOrgId})
       on conflict (org_id, member_id, kind, place_id) do update set unread = c.unread + excluded.unread, changes = c.changes + 1)
     insert into outbox (org_id, id, topic, payload)
     select ${currentOrgId}, app.new_id(n.at), 'notification.deliver', jsonb_build_object('notificationId', n.id)
     from numbered n where n.goes_out`;
}
