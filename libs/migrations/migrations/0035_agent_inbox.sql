-- The inbox of an agent or a member for their work (operation agents.inbox): one stream per recipient, without gaps.
create table inbox_streams (
  org_id uuid not null references orgs (id) on delete cascade,
  -- The id of an agent or of a member.
  recipient_id uuid not null,
  last_seq int not null,
  primary key (org_id, recipient_id)
);
call app.guard_table('inbox_streams', 'select, insert, update');
-- Only for app.stream_positions, which returns numbers to callers that wait.
call app.open_table('inbox_streams', 'muster_door', 'select');

-- After a loss the numbers continue beyond those that were given out (functions/after-loss.sql).
call app.open_table('inbox_streams', 'muster_operator', 'select, update (last_seq)');

create table inbox_items (
  org_id uuid not null,
  recipient_id uuid not null,
  seq int not null,
  kind text not null check (kind in ('verdict', 'stop', 'stop_lifted', 'mention', 'offer', 'assigned', 'unassigned',
    'unblocked', 'question', 'question_answered', 'spec_changed', 'lease_lost', 'merged', 'checks_failed')),
  actor jsonb not null,
  -- An item outlives its project, story and comment, so that the stream has no gap. It is then shown as withheld.
  project_id uuid not null,
  story_id uuid,
  execution_id uuid,
  comment_id uuid,
  text text not null,
  -- The call that answers the item: {operation, params}.
  next jsonb,
  at timestamptz(3) not null default clock_timestamp(),
  primary key (org_id, recipient_id, seq),
  foreign key (org_id, recipient_id) references inbox_streams (org_id, recipient_id) on delete cascade
);
-- Finds the items that have been kept for 14 days.
create index inbox_items_at on inbox_items (at);
call app.guard_table('inbox_items', 'select, insert');
call app.open_table('inbox_items', 'muster_worker', 'select (org_id, recipient_id, seq, at), delete');
