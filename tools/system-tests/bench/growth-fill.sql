-- Inserts the rows for the measurement of growth. A hundred thousand API calls would take longer than the whole
-- measurement. growth-fill.ts replaces the names that follow a colon.

-- Disables triggers, because each inserted row would lock its column's counter. The counters are updated once, at
-- the end.
set session_replication_role = replica;

-- Fills the project without writes up to `total` stories in its columns, after the existing stories. Five of the
-- stories have a unique label and a unique word in their title, in a small project as in a large one. A rank that
-- starts with `h` has eight more digits (fractional-indexing).
with place as (
  select c.org_id, c.project_id, c.id as column_id, c.status, row_number() over (order by c.position) - 1 as seat
  from board_columns c where c.project_id = :project_id)
insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by,
  created_at, updated_at)
select p.org_id, uuidv7(make_interval(secs => -n)), p.project_id, n,
  case when n % (:total / 5) = 0 then 'A needle' else :title end, :description, p.status, p.column_id,
  'h' || to_char(n, 'FM00000000'),
  case when n % (:total / 5) = 0 then array['rare'] else array['backend', 'bug'] end,
  jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana'),
  now() - make_interval(secs => n), now() - make_interval(secs => n)
from generate_series((select last_story_number + 1 from project_counters where project_id = :project_id), :total) n
join place p on p.seat = n % (select count(*) from place);

insert into search_documents (org_id, id, kind, project_id, keys)
select s.org_id, s.id, 'story', s.project_id, array_to_tsvector(app.story_keys(s.org_id, s.project_id, p.key || '-' || s.number,
  s.labels, s.title, app.words(s.title), app.words(concat_ws(' ', s.description, array_to_string(s.labels, ' ')))))
from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
where s.project_id = :project_id on conflict do nothing;

-- Fills the lists of other records with as many rows as there are stories. A rare filter matches equally many rows
-- in a small and in a large organization.
insert into epics (org_id, id, project_id, title, status)
  select :org_id, uuidv7(make_interval(secs => -n)), :project_id, 'Epic', case when n % (:total / 5) = 0 then 'done' else 'open' end
  from generate_series(1, :total) n;

insert into members (org_id, id, email, name, handle, role)
  select :org_id, uuidv7(), 'm' || n || '@growth.example', 'Member ' || n, 'm' || n, case when n % (:total / 5) = 0 then 'admin' else 'member' end
  from generate_series(1, :total) n;

insert into comments (org_id, id, story_id, kind, body, author, author_member_id, resolved_at)
  select :org_id, uuidv7(make_interval(secs => -n)), (select s.id from stories s where s.project_id = :project_id and s.number = 1), 'comment', 'Said',
    '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}', :member_id, case when n % (:total / 5) = 0 then null else now() end
  from generate_series(1, :total) n;

insert into activity (org_id, seq, id, kind, actor, member_id, project_id, subject, data, at)
  select :org_id, 1000000 + n, uuidv7(), case when n % (:total / 5) = 0 then 'epic.created' else 'story.updated' end,
    '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}', :member_id, :project_id,
    jsonb_build_object('type', 'story', 'id', :project_id, 'key', 'STILL-1', 'title', 'A story'), '{}', now() - make_interval(secs => :total - n)
  from generate_series(1, :total) n;

update streams set activity = 1000000 + :total, audit = 1000000 + :total where org_id = :org_id;

insert into audit (org_id, seq, id, at, actor, member_id, operation, target, outcome, request_id)
  select :org_id, 1000000 + n, uuidv7(), now() - make_interval(secs => :total - n), '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}',
    :member_id, case when n % (:total / 5) = 0 then 'epics.create' else 'stories.update' end, :project_id,
    case when n % (:total / 5) = 0 then 'denied' else 'allowed' end, 'request'
  from generate_series(1, :total) n;

insert into notifications (org_id, id, member_id, project_id, kind, title, actor, read_at, created_at)
  select :org_id, uuidv7(make_interval(secs => -n)), :member_id, :project_id, case when n % (:total / 5) = 0 then 'mention' else 'assigned' end, 'Told',
    '{"kind": "system", "memberId": null, "agentId": null, "name": "Muster"}', case when n % (:total / 5) = 0 then null else now() end, now()
  from generate_series(1, :total) n;

insert into assignments (org_id, target_type, target_id, project_id, member_id)
  select :org_id, 'story', s.id, :project_id, case when s.number % (:total / 5) = 0 then :member_id
    else (select m.id from members m where m.org_id = :org_id and m.handle = 'm1') end
  from stories s where s.project_id = :project_id;

insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, ttl_seconds, granted_at, expires_at)
  select :org_id, 'story', s.id, :project_id, 'held', 1, sha256(s.id::text::bytea), '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}',
    :member_id, 900, now() - interval '1 hour', now() - interval '45 minutes'
  from stories s where s.project_id = :project_id and s.number % (:total / 5) = 0;

insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, git, needs_rework, outcome, completed_at)
  select :org_id, uuidv7(make_interval(secs => -s.number)), :project_id, 'story', s.id, k.state, 1,
    jsonb_build_object('branch', case when k.state = 'leased' then 'rare' else 'story-' || s.number end), k.state = 'leased',
    case when k.state = 'completed' then 'succeeded' end, case when k.state = 'completed' then now() end
  from stories s cross join lateral (select case when s.number % (:total / 5) = 0 then 'leased'
    when s.number % 2 = 0 then 'submitted' else 'completed' end as state) k
  where s.project_id = :project_id;

insert into story_reviewers (org_id, id, story_id, project_id, member_id, verdict, decided_at, spec_version)
  select :org_id, uuidv7(make_interval(secs => -s.number)), s.id, :project_id, :member_id, case when s.number % (:total / 5) = 0 then 'pending' else 'approved' end,
    case when s.number % (:total / 5) = 0 then null else now() end, case when s.number % (:total / 5) = 0 then null else 0 end
  from stories s where s.project_id = :project_id;

update board_columns c set story_count =
  (select count(*) from stories s where s.org_id = c.org_id and s.column_id = c.id);
update project_counters set last_story_number = :total where project_id = :project_id;
