/**
 * The recipients of a notification draft: for each kind of recipients a query over the draft's ids (`w.ids`)
 * that answers members. write-notifications.ts then removes former members and members who may not see the
 * project.
 */
import { orgFilter, type Part, sql } from '@muster/driver';
import { seatCountQueries } from '@muster/organizations';
import { type Recipients } from '../rules/notification-rules.ts';

/** The owner and the admins. */
const ownerAndAdminsSql = sql.part`select m.id from members m where ${orgFilter('m')} and m.status = 'active' and m.role in ('owner', 'admin')`;

const isAssignedSql = sql.part`${orgFilter('t')} and t.target_type in ('story', 'delivery_group') and t.target_id = w.ids[1]`;

const assigneesSql = sql.part`select t.member_id from assignments t where ${isAssignedSql}
    union select g.member_id from assignments t join agents g on ${orgFilter('g')} and g.id = t.agent_id where ${isAssignedSql}`;

/**
 * The maximum number of a story's activity entries that are searched for the member who requested a review.
 */
const maxScannedEntries = 1_000;

export const recipientQueries: Record<Recipients, Part> = {
  members: sql.part`select u.id from unnest(w.ids) u(id)`,

  agents: sql.part`select a.member_id from agents a where ${orgFilter('a')} and a.id = any (w.ids)`,

  thread: sql.part`select c.author_member_id from comments c
    where ${orgFilter('c')} and c.id = w.ids[1] and c.deleted_at is null
    union select c.author_member_id from comments c where ${orgFilter('c')} and c.parent_id = w.ids[1]`,

  assignees: assigneesSql,

  assigned: sql.part`${assigneesSql}
    union select (s.created_by ->> 'memberId')::uuid from stories s where ${orgFilter('s')} and s.id = w.ids[1]
      and not exists (select from assignments t where ${isAssignedSql})`,

  asked_by: sql.part`select e.member_id from (
      select a.seq, a.member_id, a.kind, a.data from activity a
      where ${orgFilter('a')} and a.story_id = w.ids[1] order by a.seq desc limit ${sql.literal(maxScannedEntries)}) e
    where e.kind = 'reviewer.added' and w.ids[2]::text in (e.data ->> 'memberId', e.data ->> 'agentId')
    order by e.seq desc limit 1`,

  leads: sql.part`with led as (
      select m.id from members m
      where ${orgFilter('m')} and m.status = 'active' and m.id in (
        select pm.member_id from project_members pm
        where ${orgFilter('pm')} and pm.project_id = w.ids[1] and pm.role = 'lead'
        union
        select tm.member_id from project_teams pt
        join team_members tm on ${orgFilter('tm')} and tm.team_id = pt.team_id
        where ${orgFilter('pt')} and pt.project_id = w.ids[1] and pt.role = 'lead'))
    select id from led union all (${ownerAndAdminsSql} and not exists (select from led))`,

  heads: ownerAndAdminsSql,

  out_of_seats: sql.part`${ownerAndAdminsSql}
      and (select s.seats <= ${seatCountQueries.used} + ${seatCountQueries.pending} from subscriptions s where ${orgFilter('s')})
      and not exists (select from notifications n where ${orgFilter('n')} and n.member_id = m.id
        and n.kind = 'seat_limit' and n.in_inbox and n.read_at is null)`,

  subscribers: sql.part`select x.member_id from story_subscriptions x
    where ${orgFilter('x')} and x.story_id = w.ids[1] and x.subscribed`,

  reviewers: sql.part`select coalesce(g.member_id, r.member_id) from story_reviewers r
    left join agents g on ${orgFilter('g')} and g.id = r.agent_id where ${orgFilter('r')} and r.story_id = w.ids[1]`,

  unaware_of_failing: sql.part`${ownerAndAdminsSql}
      and not exists (select from notifications n where ${orgFilter('n')} and n.member_id = m.id
        and n.kind = 'forge_failing' and n.in_inbox and n.read_at is null and n.subject ->> 'id' = w.ids[1]::text)`,

  broadcast: sql.part`select m.id from broadcasts b join members m on ${orgFilter('m')}
    where ${orgFilter('b')} and b.id = w.ids[1]
      and (b.team_id is null or m.id in (
        select tm.member_id from team_members tm where ${orgFilter('tm')} and tm.team_id = b.team_id))`,
};
