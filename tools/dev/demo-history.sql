-- Moves a finished story into the past, so that it ended $2 days ago and the work took $3 days. Its activity is
-- spread over these days in its order.
with span as (
    select now() - make_interval(secs => 86400 * $2::float8) as ended, make_interval(secs => 86400 * $3::float8) as lasted),
  step as (
    select a.seq, a.kind, a.data ->> 'commentId' as comment_id,
      p.ended - p.lasted * (1 - (row_number() over (order by a.seq) - 1)::float8 / greatest(count(*) over () - 1, 1)) as at
    from activity a, span p where a.story_id = $1::uuid),
  moved as (update activity a set at = s.at from step s where a.story_id = $1 and a.seq = s.seq),
  asked as (update comments c set created_at = s.at from step s
    where c.story_id = $1 and s.kind = 'comment.created' and s.comment_id = c.id::text),
  used as (update usage_days set day = p.ended::date from span p where story_id = $1),
  reported as (update run_usage set first_reported_at = p.ended, last_reported_at = p.ended from span p
    where run_id = 'demo-' || $1),
  ran as (update agent_runs set started_at = p.ended - p.lasted / 24, last_seen_at = p.ended, ended_at = p.ended
    from span p where story_id = $1)
update stories set created_at = p.ended - p.lasted, updated_at = p.ended, completed_at = p.ended
from span p where id = $1;
