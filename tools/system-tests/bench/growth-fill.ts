/**
 * Inserts the rows for the measurement of growth by SQL. A hundred thousand API calls would take longer than
 * the whole measurement.
 */
import pg from 'pg';
import { type BenchOrg, description, titleOf } from './data.ts';

/**
 * Fills the project without writes up to `total` stories in its columns, after the existing stories. Five of
 * the stories have a unique label and a unique word in their title, in a small project as in a large one. A
 * rank that starts with `h` has eight more digits (fractional-indexing).
 */
const stories = `
  with place as (
    select c.org_id, c.project_id, c.id as column_id, c.status, row_number() over (order by c.position) - 1 as seat
    from board_columns c where c.project_id = $1)
  insert into stories (org_id, id, project_id, number, title, description, status, column_id, rank, labels, created_by,
    created_at, updated_at)
  select p.org_id, uuidv7(make_interval(secs => -n)), p.project_id, n,
    case when n % ($2::int / 5) = 0 then 'A needle' else $3::text end, $4::text, p.status, p.column_id,
    'h' || to_char(n, 'FM00000000'),
    case when n % ($2::int / 5) = 0 then array['rare'] else array['backend', 'bug'] end,
    jsonb_build_object('kind', 'member', 'memberId', null, 'agentId', null, 'name', 'Ana'),
    now() - make_interval(secs => n), now() - make_interval(secs => n)
  from generate_series((select last_story_number + 1 from project_counters where project_id = $1), $2::int) n
  join place p on p.seat = n % (select count(*) from place)`;

const documents = `
  insert into search_documents (org_id, id, kind, project_id, keys)
  select s.org_id, s.id, 'story', s.project_id, array_to_tsvector(app.story_keys(s.org_id, s.project_id, p.key || '-' || s.number,
    s.labels, s.title, app.words(s.title), app.words(concat_ws(' ', s.description, array_to_string(s.labels, ' ')))))
  from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
  where s.project_id = $1 on conflict do nothing`;

/**
 * SQL that fills the lists of other records with as many rows as there are stories. A rare filter matches
 * equally many rows in a small and in a large organization.
 */
const others: readonly string[] = [
  `insert into epics (org_id, id, project_id, title, status)
   select $1, uuidv7(make_interval(secs => -n)), $2, 'Epic', case when n % ($3::int / 5) = 0 then 'done' else 'open' end
   from generate_series(1, $3::int) n where $4::uuid is not null`,
  `insert into members (org_id, id, email, name, handle, role)
   select $1, uuidv7(), 'm' || n || '@growth.example', 'Member ' || n, 'm' || n, case when n % ($3::int / 5) = 0 then 'admin' else 'member' end
   from generate_series(1, $3::int) n where $2::uuid is not null and $4::uuid is not null`,
  `insert into comments (org_id, id, story_id, kind, body, author, author_member_id, resolved_at)
   select $1, uuidv7(make_interval(secs => -n)), (select s.id from stories s where s.project_id = $2 and s.number = 1), 'comment', 'Said',
     '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}', $4, case when n % ($3::int / 5) = 0 then null else now() end
   from generate_series(1, $3::int) n`,
  `insert into activity (org_id, seq, id, kind, actor, member_id, project_id, subject, data, at)
   select $1, 1000000 + n, uuidv7(), case when n % ($3::int / 5) = 0 then 'epic.created' else 'story.updated' end,
     '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}', $4, $2,
     jsonb_build_object('type', 'story', 'id', $2::uuid, 'key', 'STILL-1', 'title', 'A story'), '{}', now() - make_interval(secs => $3::int - n)
   from generate_series(1, $3::int) n`,
  `update streams set activity = 1000000 + $3::int, audit = 1000000 + $3::int where org_id = $1 and $2::uuid is not null and $4::uuid is not null`,
  `insert into audit (org_id, seq, id, at, actor, member_id, operation, target, outcome, request_id)
   select $1, 1000000 + n, uuidv7(), now() - make_interval(secs => $3::int - n), '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}',
     $4, case when n % ($3::int / 5) = 0 then 'epics.create' else 'stories.update' end, $2,
     case when n % ($3::int / 5) = 0 then 'denied' else 'allowed' end, 'request'
   from generate_series(1, $3::int) n`,
  `insert into notifications (org_id, id, member_id, project_id, kind, title, actor, read_at, created_at)
   select $1, uuidv7(make_interval(secs => -n)), $4, $2, case when n % ($3::int / 5) = 0 then 'mention' else 'assigned' end, 'Told',
     '{"kind": "system", "memberId": null, "agentId": null, "name": "Muster"}', case when n % ($3::int / 5) = 0 then null else now() end, now()
   from generate_series(1, $3::int) n`,
  `insert into assignments (org_id, target_type, target_id, project_id, member_id)
   select $1, 'story', s.id, $2, case when s.number % ($3::int / 5) = 0 then $4::uuid
     else (select m.id from members m where m.org_id = $1 and m.handle = 'm1') end
   from stories s where s.project_id = $2`,
  `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, ttl_seconds, granted_at, expires_at)
   select $1, 'story', s.id, $2, 'held', 1, sha256(s.id::text::bytea), '{"kind": "member", "memberId": null, "agentId": null, "name": "Ana"}',
     $4, 900, now() - interval '1 hour', now() - interval '45 minutes'
   from stories s where s.project_id = $2 and s.number % ($3::int / 5) = 0`,
  `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, git, needs_rework, outcome, completed_at)
   select $1, uuidv7(make_interval(secs => -s.number)), $2, 'story', s.id, k.state, 1,
     jsonb_build_object('branch', case when k.state = 'leased' then 'rare' else 'story-' || s.number end), k.state = 'leased',
     case when k.state = 'completed' then 'succeeded' end, case when k.state = 'completed' then now() end
   from stories s cross join lateral (select case when s.number % ($3::int / 5) = 0 then 'leased'
     when s.number % 2 = 0 then 'submitted' else 'completed' end as state) k
   where s.project_id = $2 and $4::uuid is not null`,
  `insert into story_reviewers (org_id, id, story_id, project_id, member_id, verdict, decided_at, spec_version)
   select $1, uuidv7(make_interval(secs => -s.number)), s.id, $2, $4, case when s.number % ($3::int / 5) = 0 then 'pending' else 'approved' end,
     case when s.number % ($3::int / 5) = 0 then null else now() end, case when s.number % ($3::int / 5) = 0 then null else 0 end
   from stories s where s.project_id = $2`,
];

/**
 * Fills `still`, the organization's project without writes. Afterwards there are `total` stories and `total`
 * related records of each kind.
 */
export async function fillUp(url: string, { orgId, still, actor }: BenchOrg, total: number): Promise<void> {
  // A pool of `createPool` has timeouts for ordinary calls. The statements below take longer, so a plain
  // client runs them.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Disables triggers, because each inserted row would lock its column's counter. The counters are updated
    // once, at the end.
    await client.query(`set session_replication_role = replica`);
    await client.query(stories, [still.projectId, total, titleOf(1), description('board')]);
    await client.query(documents, [still.projectId]);
    for (const fill of others) await client.query(fill, [orgId, still.projectId, total, actor.memberId]);
    await client.query(
      `update board_columns c set story_count = (select count(*) from stories s where s.org_id = c.org_id and s.column_id = c.id)`,
    );
    await client.query('update project_counters set last_story_number = $2 where project_id = $1', [
      still.projectId,
      total,
    ]);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
