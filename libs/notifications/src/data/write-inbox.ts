/**
 * Writes the items of a transaction to the inboxes for work, with one statement. The row of each stream is locked
 * until the end of the transaction, so that its numbers have no gaps and follow the commit order.
 */
import { orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { noAgentId, workTargetsSql } from '@muster/tenancy';
import { type InboxDraft, type InboxRecipients } from '../rules/inbox-rules.ts';

/** Selects the work of executions `e` with the agent or member that held it last. */
const workOfExecutionsSql = (executions: Part, condition: Part = sql.part`true`): Part => sql.part`
  select coalesce(h.agent_id, h.member_id), h.member_id, e.target_type, e.target_id, e.needs_rework,
    exists (select from leases l where ${orgFilter('l')} and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held' and l.expires_at > clock_timestamp())
  from ${executions}
  cross join lateral (
    select c.member_id, nullif(c.agent_id, ${noAgentId}::uuid) as agent_id from execution_contributors c
    where ${orgFilter('c')} and c.execution_id = e.id and ${condition} order by c.attempt desc limit 1) h`;

/** Selects the newest execution of each target, if it is open or ended in this transaction. */
const openWorkOnTargetsSql = (targets: Part): Part => sql.part`(${targets}) t
  join lateral (select e.* from executions e where ${orgFilter('e')} and e.target_type = t.type and e.target_id = t.id
    order by e.id desc limit 1) e on e.completed_at is null or e.completed_at >= now()::timestamptz(3)`;

const namedExecutionSql = sql.part`(select e.* from executions e where ${orgFilter('e')} and e.id = w.ids[1]) e`;
const emptyWorkColumns = sql.part`null::text, null::uuid, false, false`;

/**
 * Each query returns recipients with the member whose rights decide, and the recipient's work. An agent comes with
 * its member.
 */
const recipientQueries: Record<InboxRecipients, Part> = {
  members: sql.part`select u.id, u.id, ${emptyWorkColumns} from unnest(w.ids) u(id)`,

  agents: sql.part`select a.id, a.member_id, ${emptyWorkColumns} from agents a where ${orgFilter('a')} and a.id = any (w.ids)`,

  holder: workOfExecutionsSql(namedExecutionSql),

  previousHolder: workOfExecutionsSql(
    namedExecutionSql,
    sql.part`coalesce(nullif(c.agent_id, ${noAgentId}::uuid), c.member_id) is distinct from w.ids[2]`,
  ),

  workers: workOfExecutionsSql(
    openWorkOnTargetsSql(
      sql.part`${workTargetsSql(sql.part`w.ids[1]`)} union select 'delivery_group', w.ids[1] where w.story_id is null`,
    ),
  ),

  storyWorkers: workOfExecutionsSql(openWorkOnTargetsSql(sql.part`select 'story' as type, w.ids[1] as id`)),

  assignees: sql.part`select i.id, i.member_id, ${emptyWorkColumns} from assignments t
    left join agents g on ${orgFilter('g')} and g.id = t.agent_id
    cross join lateral (values (t.agent_id, g.member_id), (t.member_id, t.member_id)) i (id, member_id)
    where ${orgFilter('t')} and t.target_type in ('story', 'delivery_group') and t.target_id = w.ids[1] and i.id is not null`,

  asker: sql.part`select coalesce((c.author ->> 'agentId')::uuid, c.author_member_id), c.author_member_id, ${emptyWorkColumns}
    from comments c where ${orgFilter('c')} and c.id = w.ids[1] and c.kind = 'question' and c.deleted_at is null`,
};

/** The call that answers item `c`, for the work of its recipient. */
const nextCallSql = sql.part`case
  when c.resume is not null and c.target_type is not null and not c.is_held and (c.resume = 'work' or c.needs_rework) then
    jsonb_build_object('operation', 'deliveryExecutions.acquire', 'params', jsonb_build_object('targetType', c.target_type,
      'targetId', case c.target_type when 'story' then c.ref else c.target_id::text end)
      || case c.resume when 'rework' then '{"start": true}'::jsonb else '{}' end)
  when c.next_while_held is not null and c.is_held then c.next_while_held
  else c.next end`;

const inboxItemColumns = sql.part`ord int, recipients text, ids uuid[], kind text, text text, next jsonb, next_while_held jsonb,
  resume text, ref text, project_id uuid, story_id uuid, execution_id uuid, comment_id uuid`;

/**
 * Returns the statement that writes the items. A recipient receives one item per kind and subject of a transaction:
 * the first one. The acting agent or member is excluded, as are recipients that may not see the project after
 * this transaction.
 */
export function writeInbox(actor: Actor, drafts: readonly InboxDraft[]): Query<unknown> {
  const wanted = drafts.map(
    ({ to, projectId, storyId, executionId, commentId, nextWhileHeld, ...draft }, ord) => ({
      ...draft,
      ord,
      recipients: to,
      project_id: projectId,
      story_id: storyId,
      execution_id: executionId ?? null,
      comment_id: commentId ?? null,
      next_while_held: nextWhileHeld ?? null,
    }),
  );
  const reached = [...new Set(drafts.map(({ to }) => to))].sort().map(
    (recipients) =>
      sql.part`select w.*, r.* from wanted w cross join lateral (${recipientQueries[recipients]})
           r (recipient_id, member_id, target_type, target_id, needs_rework, is_held)
         where w.recipients = ${recipients}`,
  );
  return sql`with wanted as materialized (select * from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(${inboxItemColumns})),
     reached as (${sql.join(reached, ' union all ')}),
     chosen as materialized (
       select distinct on (r.recipient_id, r.kind, r.story_id, r.execution_id, r.comment_id) r.*
       from reached r
       join members m on ${orgFilter('m')} and m.id = r.member_id and m.status = 'active'
       join projects p on ${orgFilter('p')} and p.id = r.project_id
       where r.recipient_id is distinct from coalesce(${actor.agentId}::uuid, ${actor.memberId}::uuid)
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
       order by r.recipient_id, r.kind, r.story_id, r.execution_id, r.comment_id, r.ord),
     counted as (
       insert into inbox_streams as s (org_id, recipient_id, last_seq)
       select ${currentOrgId}, c.recipient_id, count(*)::int from chosen c group by c.recipient_id order by c.recipient_id
       on conflict (org_id, recipient_id) do update set last_seq = s.last_seq + excluded.last_seq
       returning s.recipient_id, s.last_seq)
     insert into inbox_items (org_id, recipient_id, seq, kind, actor, project_id, story_id, execution_id, comment_id, text, next)
     select ${currentOrgId}, c.recipient_id,
       n.last_seq + 1 - row_number() over (partition by c.recipient_id order by c.ord desc), c.kind, ${actor}::jsonb,
       c.project_id, c.story_id, c.execution_id, c.comment_id, c.text, ${nextCallSql}
     from chosen c join counted n on n.recipient_id = c.recipient_id`;
}
