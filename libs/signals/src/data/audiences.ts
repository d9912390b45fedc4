/**
 * Who is in an audience: a query for each, over the ids of one telling (`w.ids`), that answers members. $1 is the
 * organization. Whether they are still there and may see the project is asked of all of them alike, in tellings.ts.
 */
import { heldSeats } from '@muster/people';
import { type Audience } from '../rules/tellings.ts';

/** The owner and the admins. */
const heads = `select m.id from members m where m.org_id = $1 and m.status = 'active' and m.role in ('owner', 'admin')`;

const isAssigned = `t.org_id = $1 and t.target_type in ('story', 'delivery_group') and t.target_id = w.ids[1]`;

const assignees = `select t.member_id from assignments t where ${isAssigned}
    union select g.member_id from assignments t join agents g on g.org_id = $1 and g.id = t.agent_id where ${isAssigned}`;

/** So much of a story's activity is looked at for who asked for a review. */
const mostLookedAt = 1_000;

export const audiences: Record<Audience, string> = {
  members: 'select u.id from unnest(w.ids) u(id)',

  agents: 'select a.member_id from agents a where a.org_id = $1 and a.id = any (w.ids)',

  thread: `select c.author_member_id from comments c
    where c.org_id = $1 and c.id = w.ids[1] and c.deleted_at is null
    union select c.author_member_id from comments c where c.org_id = $1 and c.parent_id = w.ids[1]`,

  assignees,

  assigned: `${assignees}
    union select (s.created_by ->> 'memberId')::uuid from stories s where s.org_id = $1 and s.id = w.ids[1]
      and not exists (select from assignments t where ${isAssigned})`,

  asked_by: `select e.member_id from (
      select a.seq, a.member_id, a.kind, a.data from activity a
      where a.org_id = $1 and a.story_id = w.ids[1] order by a.seq desc limit ${mostLookedAt}) e
    where e.kind = 'reviewer.added' and w.ids[2]::text in (e.data ->> 'memberId', e.data ->> 'agentId')
    order by e.seq desc limit 1`,

  leads: `with led as (
      select m.id from members m
      where m.org_id = $1 and m.status = 'active' and m.id in (
        select pm.member_id from project_members pm
        where pm.org_id = $1 and pm.project_id = w.ids[1] and pm.role = 'lead'
        union
        select tm.member_id from project_teams pt
        join team_members tm on tm.org_id = $1 and tm.team_id = pt.team_id
        where pt.org_id = $1 and pt.project_id = w.ids[1] and pt.role = 'lead'))
    select id from led union all (${heads} and not exists (select from led))`,

  out_of_seats: `${heads}
      and (select s.seats <= ${heldSeats.used} + ${heldSeats.pending} from subscriptions s where s.org_id = $1)
      and not exists (select from notifications n where n.org_id = $1 and n.member_id = m.id
        and n.kind = 'seat_limit' and n.in_inbox and n.read_at is null)`,

  broadcast: `select m.id from broadcasts b join members m on m.org_id = $1
    where b.org_id = $1 and b.id = w.ids[1]
      and (b.team_id is null or m.id in (
        select tm.member_id from team_members tm where tm.org_id = $1 and tm.team_id = b.team_id))`,
};
