-- Generated from the migrations and the functions by `npm run generate`, for reading. Nothing runs this file.

-- Tables

create table app.applied_migrations (
  name text not null,
  applied_at timestamp(3) with time zone not null default now()
);
create table app.claimed_slugs (
  slug text not null,
  org_id uuid not null
);
create table app.closed_nodes (
  node text not null,
  closed_at timestamp(3) with time zone not null default now()
);
create table app.closed_orgs (
  org_id uuid not null,
  closed_at timestamp(3) with time zone not null default now()
);
create table app.export_key (
  is_only boolean not null default true,
  salt uuid not null default gen_random_uuid()
);
create table app.file_deletions (
  key text not null,
  due_at timestamp(3) with time zone not null
);
create table app.file_folder (
  is_only boolean not null default true,
  id uuid not null
);
create table app.function_files (
  name text not null,
  sha256 text not null,
  release text not null,
  applied_at timestamp(3) with time zone not null default now()
);
create table app.org_places (
  org_id uuid not null,
  node text not null,
  moving_to text,
  left_from text,
  changed_at timestamp(3) with time zone not null default now()
);
create table app.platform_passes (
  hash bytea not null,
  token_id uuid not null,
  expires_at timestamp(3) with time zone not null
);
create table public.access_requests (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  role text not null,
  message text,
  state text not null default 'pending'::text,
  resolved_by jsonb,
  resolved_at timestamp(3) with time zone,
  note text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.activity (
  org_id uuid not null,
  seq bigint not null,
  id uuid not null,
  kind text not null,
  actor jsonb not null,
  member_id uuid,
  agent_id uuid,
  project_id uuid,
  story_id uuid,
  subject jsonb not null,
  data jsonb not null,
  at timestamp(3) with time zone not null default now(),
  group_id uuid default 
CASE
    WHEN ((subject ->> 'type'::text) = 'delivery_group'::text) THEN ((subject ->> 'id'::text))::uuid
    ELSE NULL::uuid
END
) partition by RANGE (at);
create table public.agent_runs (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  run_id text not null,
  member_id uuid not null,
  agent_id uuid,
  story_id uuid,
  execution_id uuid,
  state text not null,
  last_event jsonb not null,
  recent_keys uuid[] not null default '{}'::uuid[],
  started_at timestamp(3) with time zone not null default clock_timestamp(),
  last_seen_at timestamp(3) with time zone not null default clock_timestamp(),
  ended_at timestamp(3) with time zone,
  log_lines integer not null default 0
);
create table public.agents (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null,
  slug text not null,
  created_at timestamp(3) with time zone not null default now(),
  retired_at timestamp(3) with time zone
);
create table public.assignments (
  org_id uuid not null,
  target_type text not null,
  target_id uuid not null,
  project_id uuid not null,
  member_id uuid,
  agent_id uuid,
  assigned_by jsonb not null default '{"kind": "system", "name": "Muster", "agentId": null, "memberId": null}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
create table public.attachments (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  story_id uuid,
  comment_id uuid,
  execution_id uuid,
  name text not null,
  content_type text not null,
  size integer not null,
  sha256 text not null,
  kind text not null,
  state text not null default 'pending'::text,
  head_sha text,
  code_seq integer,
  report jsonb,
  author jsonb not null,
  author_member_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  imported_by jsonb,
  imported_from text
);
create table public.audit (
  org_id uuid not null,
  seq bigint not null,
  id uuid not null,
  at timestamp(3) with time zone not null default now(),
  actor jsonb not null,
  member_id uuid,
  agent_id uuid,
  token_id uuid,
  operation text not null,
  target text,
  outcome text not null,
  reason text,
  ip text,
  user_agent text,
  request_id text not null,
  details jsonb
) partition by RANGE (at);
create table public.board_columns (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  name text not null,
  status text not null,
  "position" integer not null,
  wip_limit integer,
  story_count integer not null default 0,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.broadcasts (
  org_id uuid not null,
  id uuid not null,
  message text not null,
  level text not null,
  project_id uuid,
  team_id uuid,
  sender jsonb not null,
  sender_member_id uuid not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.budgets (
  org_id uuid not null,
  id uuid not null,
  scope text not null,
  project_id uuid,
  agent_id uuid,
  story_id uuid,
  period text not null,
  action text not null,
  amount_micros bigint not null,
  currency text collate "C" not null,
  spent_micros bigint not null default 0,
  period_start date not null,
  warned_percent integer not null default 0,
  exceeded_at timestamp(3) with time zone,
  set_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.catalog_agents (
  org_id uuid not null,
  id uuid not null,
  slug text collate "C" not null,
  publisher_id uuid not null,
  latest_version text collate "C",
  created_at timestamp(3) with time zone not null default now()
);
create table public.catalog_tombstones (
  org_id uuid not null,
  slug text collate "C" not null,
  version text collate "C" not null,
  sha256 text not null,
  deleted_at timestamp(3) with time zone not null default now()
);
create table public.catalog_versions (
  org_id uuid not null,
  agent_id uuid not null,
  version text collate "C" not null,
  name text not null,
  description text not null,
  manifest jsonb not null,
  tags text[] not null default '{}'::text[],
  content bytea not null,
  content_type text not null,
  encoding text not null,
  sha256 text not null,
  size integer not null,
  published_by jsonb not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.code_change_files (
  org_id uuid not null,
  changes_id uuid not null,
  seq integer not null,
  path text not null,
  old_path text,
  status text not null,
  additions integer not null,
  deletions integer not null,
  is_binary boolean not null,
  is_truncated boolean not null,
  patch text
);
create table public.code_changes (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  execution_id uuid not null,
  source text not null,
  head_sha text not null,
  base_sha text,
  state text not null,
  failure jsonb,
  attachment_id uuid,
  file_count integer not null default 0,
  additions integer not null default 0,
  deletions integer not null default 0,
  is_truncated boolean not null default false,
  stored_at timestamp(3) with time zone not null default now()
);
create table public.comment_reactions (
  org_id uuid not null,
  comment_id uuid not null,
  member_id uuid not null,
  emoji text collate "C" not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.comments (
  org_id uuid not null,
  id uuid not null,
  story_id uuid not null,
  parent_id uuid,
  kind text not null,
  body text,
  author jsonb not null,
  author_member_id uuid not null,
  directed_to uuid,
  mentions uuid[] not null default '{}'::uuid[],
  told uuid[] not null default '{}'::uuid[],
  anchor jsonb,
  resolved_at timestamp(3) with time zone,
  resolved_by jsonb,
  edited_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  imported_by jsonb,
  imported_from text,
  agent_mentions uuid[] not null default '{}'::uuid[],
  directed_to_agent uuid,
  code_anchor jsonb,
  via text,
  mail_key text,
  options text[] not null default '{}'::text[]
);
create table public.connections (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  agent_id uuid not null,
  client_id text not null,
  client_name text not null,
  client_host text,
  resource text not null,
  scopes text[] not null,
  project_ids uuid[],
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone
);
create table public.contract_stories (
  org_id uuid not null,
  story_id uuid not null,
  slug text collate "C" not null,
  contract_id uuid not null,
  project_id uuid not null
);
create table public.contract_versions (
  org_id uuid not null,
  contract_id uuid not null,
  version integer not null,
  project_id uuid not null,
  kind text not null,
  content text not null,
  content_hash text not null,
  story_id uuid,
  note text,
  published_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  imported_by jsonb,
  imported_from text
);
create table public.contracts (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  slug text collate "C" not null,
  version integer not null default 0,
  created_at timestamp(3) with time zone not null default now()
);
create table public.deleted_records (
  org_id uuid not null,
  story_id uuid not null,
  nth integer not null,
  kind text not null,
  record jsonb not null
);
create table public.deleted_stories (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  number integer not null,
  title text not null,
  deleted_by jsonb not null,
  deleted_at timestamp(3) with time zone not null default now()
);
create table public.delivery_group_stories (
  org_id uuid not null,
  project_id uuid not null,
  group_id uuid not null,
  story_id uuid not null,
  "position" integer not null,
  open boolean not null default true
);
create table public.delivery_groups (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  name text not null,
  state text not null default 'draft'::text,
  merge_strategy text not null,
  git jsonb,
  upstream jsonb,
  checkpoint jsonb,
  checkpoint_seq integer not null default 0,
  told_seq bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.devices (
  org_id uuid not null,
  member_id uuid not null,
  device_id text not null,
  id uuid not null,
  name text not null,
  platform text not null,
  push_token text,
  app_version text,
  token_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
create table public.epics (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  title text not null,
  description text not null default ''::text,
  color text,
  target_date date,
  status text not null default 'open'::text,
  story_count integer not null default 0,
  done_count integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.execution_contributors (
  org_id uuid not null,
  execution_id uuid not null,
  member_id uuid not null,
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  attempt integer not null
);
create table public.execution_events (
  org_id uuid not null,
  execution_id uuid not null,
  seq integer not null,
  kind text not null,
  actor jsonb not null,
  data jsonb not null default '{}'::jsonb,
  at timestamp(3) with time zone not null default clock_timestamp()
) partition by RANGE (at);
create table public.executions (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  target_type text not null,
  target_id uuid not null,
  state text not null,
  phase text,
  progress integer not null default 0,
  attempt integer not null default 1,
  spec_version integer,
  epoch integer not null,
  run_id text,
  device_id text,
  offer jsonb,
  waiting_for uuid,
  checkpoint jsonb,
  checkpoint_seq integer not null default 0,
  git jsonb,
  pull_request jsonb,
  outcome text,
  failure text,
  summary text,
  needs_rework boolean not null default false,
  stop_requested jsonb,
  forge jsonb not null default '{}'::jsonb,
  merged_at timestamp(3) with time zone,
  merge_verified_at timestamp(3) with time zone,
  last_event_seq integer not null default 0,
  told_seq integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  completed_at timestamp(3) with time zone,
  version integer not null default 1,
  branch text default (git ->> 'branch'::text),
  opened_number bigint default ((git #>> '{pullRequest,number}'::text[]))::bigint,
  opened_url_hash text default md5((git #>> '{pullRequest,url}'::text[])),
  submitted_number bigint default ((pull_request ->> 'number'::text))::bigint,
  submitted_url_hash text default md5((pull_request ->> 'url'::text)),
  rework jsonb
);
create table public.export_files (
  org_id uuid not null,
  export_id uuid not null,
  name text not null,
  "position" integer not null,
  size bigint not null,
  sha256 text,
  records integer not null default 0
);
create table public.export_parts (
  org_id uuid not null,
  export_id uuid not null,
  id uuid not null,
  "position" integer not null,
  size integer,
  created_at timestamp(3) with time zone not null default now()
);
create table public.exports (
  org_id uuid not null,
  id uuid not null,
  scope text not null,
  project_id uuid,
  member_id uuid not null,
  requested_by jsonb not null,
  state text not null default 'queued'::text,
  failure text,
  started_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  "position" jsonb,
  writer uuid,
  attempts integer not null default 0,
  progress integer not null default 0,
  records bigint not null default 0,
  size bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.forge_checks (
  org_id uuid not null,
  repository_id uuid not null,
  sha text not null,
  name text not null,
  at timestamp(3) with time zone not null,
  state text not null,
  trust text not null,
  noted_at timestamp(3) with time zone not null default now()
);
create table public.forge_connections (
  org_id uuid not null,
  id uuid not null,
  kind text not null,
  name text not null,
  base_url text not null,
  secret bytea not null,
  credentials bytea,
  credentials_kind text,
  app_id text,
  app_url text,
  created_by jsonb not null,
  last_delivery_at timestamp(3) with time zone,
  last_status_at timestamp(3) with time zone,
  last_error jsonb,
  quiet_until timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  delivery_error jsonb
);
create table public.forge_deliveries (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  delivery_id text not null,
  event text not null,
  trust text not null,
  payload text not null,
  state text not null default 'received'::text,
  outcome jsonb not null default '[]'::jsonb,
  received_at timestamp(3) with time zone not null default now(),
  done_at timestamp(3) with time zone
);
create table public.forge_facts (
  org_id uuid not null,
  id uuid not null,
  repository_id uuid not null,
  dedupe_key text not null,
  keys text[] not null,
  fact jsonb not null,
  trust text not null,
  parked_at timestamp(3) with time zone not null default now()
);
create table public.forge_observations (
  org_id uuid not null,
  execution_id uuid not null,
  dedupe_key text not null,
  kind text not null,
  ref text,
  sha text,
  number integer,
  url text,
  data jsonb,
  observed_at timestamp(3) with time zone not null,
  trust text not null default 'reported'::text,
  recorded_by jsonb not null,
  recorded_at timestamp(3) with time zone not null default now()
);
create table public.forge_pulls (
  org_id uuid not null,
  execution_id uuid not null,
  repository_id uuid not null,
  number integer,
  url text,
  branch text,
  is_open boolean not null default true,
  head_sha text,
  head_at timestamp(3) with time zone,
  head_key text,
  heard_at timestamp(3) with time zone not null default now(),
  etag text,
  replaces integer
);
create table public.forge_repositories (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  project_id uuid not null,
  external_id text,
  url text,
  full_name text,
  default_branch text,
  linked_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  former_urls text[] not null default '{}'::text[]
);
create table public.forge_statuses (
  org_id uuid not null,
  connection_id uuid not null,
  external_id text not null,
  sha text not null,
  state text,
  description text,
  held_by uuid,
  held_until timestamp(3) with time zone,
  changed_at timestamp(3) with time zone not null default now()
);
create table public.gamification_state (
  org_id uuid not null,
  counted_seq bigint not null default 0,
  state text not null default 'done'::text,
  job_id uuid,
  requested_at timestamp(3) with time zone,
  synced_at timestamp(3) with time zone
);
create table public.idempotency_keys (
  org_id uuid not null,
  token_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  response text,
  sent_texts jsonb,
  created_at timestamp(3) with time zone not null default now()
);
create table public.identity_provider_domains (
  org_id uuid not null,
  provider_id uuid not null,
  domain text not null,
  proof text not null,
  proven_at timestamp(3) with time zone,
  missing_since timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now()
);
create table public.identity_providers (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  issuer text not null,
  client_id text not null,
  secret bytea,
  trusts_addresses boolean not null default false,
  checked_at timestamp(3) with time zone,
  problem text,
  created_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.import_items (
  org_id uuid not null,
  project_id uuid not null,
  provider text not null,
  kind text not null,
  external_id text not null,
  record_id uuid not null,
  made_by uuid,
  import_id uuid not null,
  source_hash bytea,
  record_version integer not null,
  blocked_by text[] not null default '{}'::text[],
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  parent text
);
create table public.imports (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  provider text not null,
  name text not null,
  state text not null default 'open'::text,
  begun_by jsonb not null,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  kept integer not null default 0,
  refused integer not null default 0,
  finished_at timestamp(3) with time zone,
  reverted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  into_empty_project boolean not null default false
);
create table public.inbox_items (
  org_id uuid not null,
  recipient_id uuid not null,
  seq integer not null,
  kind text not null,
  actor jsonb not null,
  project_id uuid not null,
  story_id uuid,
  execution_id uuid,
  comment_id uuid,
  text text not null,
  next jsonb,
  at timestamp(3) with time zone not null default clock_timestamp()
);
create table public.inbox_streams (
  org_id uuid not null,
  recipient_id uuid not null,
  last_seq integer not null,
  listens_until timestamp(3) with time zone
);
create table public.invitations (
  org_id uuid not null,
  id uuid not null,
  email text not null,
  role text not null,
  team_ids uuid[] not null default '{}'::uuid[],
  project_ids uuid[] not null default '{}'::uuid[],
  state text not null default 'pending'::text,
  token_hash bytea,
  invited_by jsonb not null,
  expires_at timestamp(3) with time zone not null,
  sends integer not null default 1,
  sent_at timestamp(3) with time zone not null default now(),
  member_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.leases (
  org_id uuid not null,
  unit_type text not null,
  unit_id uuid not null,
  project_id uuid not null,
  state text not null default 'free'::text,
  epoch integer not null default 0,
  token_hash bytea,
  holder jsonb,
  member_id uuid,
  agent_id uuid,
  run_id text,
  ttl_seconds integer,
  granted_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  expiry_noted boolean not null default false,
  ended_token_hash bytea,
  ended_by text,
  due_at timestamp(3) with time zone not null default '-infinity'::timestamp with time zone
);
create table public.lock_counters (
  org_id uuid not null,
  project_id uuid not null,
  fencing_token bigint not null default 0
);
create table public.locks (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  resources text[] not null,
  mode text not null,
  holder jsonb not null,
  member_id uuid not null,
  agent_id uuid,
  run_id text,
  execution_id uuid,
  story_id uuid,
  reason text,
  fencing_token bigint not null,
  acquired_at timestamp(3) with time zone not null default clock_timestamp(),
  expires_at timestamp(3) with time zone not null
);
create table public.members (
  org_id uuid not null,
  id uuid not null,
  email text not null,
  name text not null,
  handle text not null,
  role text not null,
  status text not null default 'active'::text,
  account_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  external_id text,
  given_name text,
  family_name text,
  deactivated_at timestamp(3) with time zone,
  activated_at timestamp(3) with time zone,
  paused_team_ids uuid[]
);
create table public.notification_counts (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  project_id uuid,
  place_id uuid not null,
  unread integer not null,
  changes bigint not null default 0
);
create table public.notification_digests (
  org_id uuid not null,
  member_id uuid not null,
  sent_until timestamp(3) with time zone not null default now()
);
create table public.notification_preferences (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  channel text not null,
  enabled boolean not null,
  updated_at timestamp(3) with time zone not null default now()
);
create table public.notification_snoozes (
  org_id uuid not null,
  notification_id uuid not null,
  member_id uuid not null,
  until timestamp(3) with time zone not null
);
create table public.notifications (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  project_id uuid,
  kind text not null,
  title text not null,
  body text not null default ''::text,
  subject jsonb,
  actor jsonb not null,
  in_inbox boolean not null default true,
  read_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  sent_with uuid,
  sends_at timestamp(3) with time zone,
  comment_id uuid
);
create table public.orgs (
  id uuid not null,
  slug text not null,
  name text not null,
  description text not null default ''::text,
  policy jsonb not null default '{}'::jsonb,
  policy_version integer not null default 1,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  deleted_at timestamp(3) with time zone
);
create table public.outbox (
  org_id uuid not null,
  id uuid not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  dispatch_after timestamp(3) with time zone not null default now(),
  attempts integer not null default 0,
  done_at timestamp(3) with time zone,
  dead_at timestamp(3) with time zone,
  error text,
  trace_parent text default NULLIF(current_setting('muster.trace_parent'::text, true), ''::text)
);
create table public.plan_items (
  org_id uuid not null,
  plan_id uuid not null,
  kind text not null,
  ref text not null,
  record_id uuid not null,
  "position" integer not null,
  base jsonb not null
);
create table public.plans (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  ref text not null,
  applied_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.point_days (
  org_id uuid not null,
  member_id uuid not null,
  day date not null,
  points integer not null
);
create table public.point_entries (
  org_id uuid not null,
  activity_seq bigint not null,
  member_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  project_id uuid,
  points integer not null,
  at timestamp(3) with time zone not null,
  taken_back_seq bigint
);
create table public.point_resets (
  org_id uuid not null,
  member_id uuid not null,
  reset_seq bigint not null,
  reset_on date not null
);
create table public.point_scores (
  org_id uuid not null,
  period text not null,
  starts_on date not null,
  scope_id uuid not null,
  member_id uuid not null,
  points integer not null
);
create table public.point_tallies (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  points integer not null,
  times integer not null
);
create table public.project_counters (
  org_id uuid not null,
  project_id uuid not null,
  last_story_number integer not null default 0,
  canceled_stories integer not null default 0
);
create table public.project_members (
  org_id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.project_teams (
  org_id uuid not null,
  project_id uuid not null,
  team_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.projects (
  org_id uuid not null,
  id uuid not null,
  key text collate "C" not null,
  name text not null,
  description text not null default ''::text,
  visibility text not null,
  repository jsonb,
  origin text not null,
  local_project_id text,
  conversion jsonb,
  archived_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.prompts (
  org_id uuid not null,
  id uuid not null,
  project_id uuid,
  slug text collate "C" not null,
  title text not null,
  body text not null,
  arguments jsonb not null default '[]'::jsonb,
  tags text[] not null default '{}'::text[],
  created_by jsonb not null,
  updated_by jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  imported_by jsonb,
  imported_from text
);
create table public.rights_epochs (
  org_id uuid not null,
  epoch uuid not null default gen_random_uuid()
);
create table public.run_logs (
  org_id uuid not null,
  run_id uuid not null,
  first_line integer not null,
  last_line integer not null,
  lines jsonb not null,
  at timestamp(3) with time zone not null
);
create table public.run_usage (
  org_id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  run_id text not null,
  model text collate "C" not null,
  currency text collate "C" not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  reported_cost_micros bigint,
  first_reported_at timestamp(3) with time zone not null default clock_timestamp(),
  last_reported_at timestamp(3) with time zone not null default clock_timestamp()
);
create table public.search_documents (
  org_id uuid not null,
  id uuid not null,
  kind text not null,
  project_id uuid,
  keys tsvector not null
);
create table public.search_words (
  org_id uuid not null,
  word text collate "C" not null,
  written_by bigint not null default ((pg_current_xact_id())::text)::bigint,
  slips bigint[] not null
);
create table public.seat_ledger (
  org_id uuid not null,
  id uuid not null,
  version integer not null,
  at timestamp(3) with time zone not null,
  actor jsonb not null,
  from_seats integer not null,
  to_seats integer not null,
  amount bigint not null,
  currency text not null,
  lines jsonb not null,
  period_start timestamp(3) with time zone not null,
  period_end timestamp(3) with time zone not null
);
create table public.seat_usage (
  org_id uuid not null,
  purchased integer not null,
  used integer not null,
  pending integer not null,
  by_role jsonb not null,
  recalculated_at timestamp(3) with time zone not null default clock_timestamp()
);
create table public.stories (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  number integer not null,
  title text not null,
  description text not null default ''::text,
  status text not null,
  column_id uuid,
  rank text collate "C" not null,
  epic_id uuid,
  priority text not null default 'none'::text,
  labels text[] not null default '{}'::text[],
  estimate double precision,
  blocked jsonb,
  blocked_by uuid[] not null default '{}'::uuid[],
  spec_version integer not null default 0,
  git jsonb,
  code jsonb,
  upstream jsonb,
  created_by jsonb not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  parent_id uuid,
  touches text[] not null default '{}'::text[],
  due_date date,
  imported_by jsonb,
  imported_from text
);
create table public.story_blockers (
  org_id uuid not null,
  project_id uuid not null,
  story_id uuid not null,
  blocker_id uuid not null
);
create table public.story_reviewers (
  org_id uuid not null,
  id uuid not null,
  story_id uuid not null,
  project_id uuid not null,
  member_id uuid,
  agent_id uuid,
  verdict text not null default 'pending'::text,
  note text,
  spec_version integer,
  code_seq integer,
  head_sha text,
  diff_hash text,
  decided_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  imported_by jsonb,
  imported_from text
);
create table public.story_selections (
  org_id uuid not null,
  member_id uuid not null,
  device_id text not null default ''::text,
  story_id uuid not null,
  since timestamp(3) with time zone not null default now()
);
create table public.story_specs (
  org_id uuid not null,
  story_id uuid not null,
  version integer not null,
  content text not null,
  content_hash text not null,
  lines_added integer not null,
  lines_removed integer not null,
  author jsonb not null,
  note text,
  created_at timestamp(3) with time zone not null default now(),
  imported_by jsonb,
  imported_from text
);
create table public.story_subscriptions (
  org_id uuid not null,
  story_id uuid not null,
  member_id uuid not null,
  subscribed boolean not null,
  updated_at timestamp(3) with time zone not null default now()
);
create table public.streams (
  org_id uuid not null,
  activity bigint not null default 0,
  audit bigint not null default 0,
  cursor_key bytea not null default sha256((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))),
  lost_after bigint,
  lost_until bigint,
  audit_lost_after bigint
);
create table public.subscriptions (
  org_id uuid not null,
  plan text not null,
  status text not null default 'active'::text,
  seats integer not null,
  current_period_start timestamp(3) with time zone not null default (date_trunc('day'::text, (now() AT TIME ZONE 'UTC'::text)) AT TIME ZONE 'UTC'::text),
  current_period_end timestamp(3) with time zone not null default ((date_trunc('day'::text, (now() AT TIME ZONE 'UTC'::text)) + '1 mon'::interval) AT TIME ZONE 'UTC'::text),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.team_members (
  org_id uuid not null,
  team_id uuid not null,
  member_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.teams (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  external_id text
);
create table public.tokens (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  agent_id uuid,
  kind text not null default 'api'::text,
  name text not null,
  hash bytea not null,
  prefix text,
  last_four text not null,
  scopes text[] not null,
  project_ids uuid[],
  may_read_inbox boolean not null default false,
  session_id uuid,
  client_id text,
  grant_id text,
  resource text,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  warned_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  parent_id uuid
);
create table public.usage_days (
  org_id uuid not null,
  project_id uuid not null,
  day date not null,
  member_id uuid not null,
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  run_id text not null,
  story_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  model text collate "C" not null,
  currency text collate "C" not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost_micros bigint not null
);
create table public.usage_prices (
  org_id uuid not null,
  model text collate "C" not null,
  currency text collate "C" not null,
  valid_from date not null,
  input_micros bigint not null,
  output_micros bigint not null,
  cached_micros bigint not null
);
create table public.views (
  org_id uuid not null,
  id uuid not null,
  owner_id uuid not null,
  project_id uuid,
  name text not null,
  layout text not null,
  filter jsonb not null,
  group_by text,
  sort text not null,
  columns text[] not null,
  shared boolean not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.webhook_deliveries (
  org_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  seq bigint,
  activity_seq bigint,
  event_at timestamp(3) with time zone not null,
  event_id uuid not null,
  kind text not null,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  tries jsonb not null default '[]'::jsonb,
  answer text,
  next_at timestamp(3) with time zone,
  done_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  audit_seq bigint
);
create table public.webhooks (
  org_id uuid not null,
  id uuid not null,
  project_id uuid,
  url text not null,
  kinds text[] not null,
  send_order text not null,
  description text not null default ''::text,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamp(3) with time zone,
  maker_id uuid not null,
  made_by jsonb not null,
  paused_at timestamp(3) with time zone,
  paused_reason text,
  cursor_seq bigint not null,
  sent_seq bigint not null default 0,
  is_full boolean not null default false,
  next_at timestamp(3) with time zone,
  worker_epoch bigint not null default 0,
  worker_until timestamp(3) with time zone,
  failing integer not null default 0,
  last_success_at timestamp(3) with time zone,
  last_failure_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1,
  audit_cursor_seq bigint,
  format text not null default 'standard'::text
);
create table sign_in.accounts (
  id uuid not null,
  email text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table sign_in.flows (
  hash bytea not null,
  kind text not null,
  payload jsonb not null,
  expires_at timestamp(3) with time zone not null
);
create table sign_in.identities (
  issuer text not null,
  subject text not null,
  account_id uuid not null,
  email text,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone not null default now()
);
create table sign_in.oauth_records (
  model text not null,
  id_hash bytea not null,
  grant_id text,
  uid text,
  user_code text,
  payload jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  consumed_at timestamp(3) with time zone
);
create table sign_in.passkeys (
  id uuid not null,
  account_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null default 0,
  transports text[] not null default '{}'::text[],
  name text not null,
  is_synced boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone
);
create table sign_in.peers (
  name text not null
);
create table sign_in.sessions (
  id uuid not null,
  account_id uuid not null,
  hash bytea not null,
  proofs text[] not null,
  proven_at timestamp(3) with time zone not null default now(),
  user_agent text,
  ip text,
  created_at timestamp(3) with time zone not null default now(),
  last_seen_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone
);
create table sign_in.sign_ins (
  id uuid not null,
  hash bytea not null,
  code_hash bytea not null,
  nonce_hash bytea not null,
  email text not null,
  misses integer not null default 0,
  return_to text not null,
  ip text,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone
);
create table sign_in.unsent (
  peer text not null,
  kind text not null,
  id uuid not null,
  version uuid not null default gen_random_uuid(),
  is_end boolean not null default false
);

-- Keys and checks

alter table access_requests add constraint access_requests_check CHECK ((((state = 'pending'::text) = (resolved_at IS NULL)) AND ((resolved_at IS NULL) = (resolved_by IS NULL))));
alter table access_requests add constraint access_requests_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table access_requests add constraint access_requests_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table access_requests add constraint access_requests_pkey PRIMARY KEY (org_id, id);
alter table access_requests add constraint access_requests_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'contributor'::text, 'viewer'::text])));
alter table access_requests add constraint access_requests_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text])));
alter table activity add constraint activity_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table activity add constraint activity_pkey PRIMARY KEY (org_id, seq, at);
alter table agent_runs add constraint agent_runs_check CHECK (((state = ANY (ARRAY['completed'::text, 'failed'::text, 'canceled'::text])) = (ended_at IS NOT NULL)));
alter table agent_runs add constraint agent_runs_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table agent_runs add constraint agent_runs_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id);
alter table agent_runs add constraint agent_runs_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table agent_runs add constraint agent_runs_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table agent_runs add constraint agent_runs_org_id_project_id_run_id_key UNIQUE (org_id, project_id, run_id);
alter table agent_runs add constraint agent_runs_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id);
alter table agent_runs add constraint agent_runs_pkey PRIMARY KEY (org_id, id);
alter table agent_runs add constraint agent_runs_recent_keys_check CHECK ((cardinality(recent_keys) <= 100));
alter table agent_runs add constraint agent_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'waiting'::text, 'completed'::text, 'failed'::text, 'canceled'::text])));
alter table agents add constraint agents_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table agents add constraint agents_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table agents add constraint agents_org_id_member_id_name_key UNIQUE (org_id, member_id, name);
alter table agents add constraint agents_pkey PRIMARY KEY (org_id, id);
alter table agents add constraint agents_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'::text));
alter table assignments add constraint assignments_check CHECK (((member_id IS NOT NULL) OR (agent_id IS NOT NULL)));
alter table assignments add constraint assignments_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_pkey PRIMARY KEY (org_id, target_type, target_id);
alter table assignments add constraint assignments_target_type_check CHECK ((target_type = ANY (ARRAY['story'::text, 'epic'::text, 'delivery_group'::text])));
alter table attachments add constraint attachments_check CHECK (((num_nonnulls(comment_id, execution_id) <= 1) AND ((story_id IS NOT NULL) OR (execution_id IS NOT NULL))));
alter table attachments add constraint attachments_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)));
alter table attachments add constraint attachments_org_id_comment_id_fkey FOREIGN KEY (org_id, comment_id) REFERENCES comments(org_id, id) ON DELETE CASCADE;
alter table attachments add constraint attachments_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table attachments add constraint attachments_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table attachments add constraint attachments_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table attachments add constraint attachments_pkey PRIMARY KEY (org_id, id);
alter table attachments add constraint attachments_size_check CHECK (((size >= 0) AND (size <= 52428800)));
alter table attachments add constraint attachments_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'stored'::text])));
alter table audit add constraint audit_details_check CHECK (((jsonb_typeof(details) = 'object'::text) AND (octet_length((details)::text) <= 65536)));
alter table audit add constraint audit_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table audit add constraint audit_outcome_check CHECK ((outcome = ANY (ARRAY['allowed'::text, 'denied'::text])));
alter table audit add constraint audit_pkey PRIMARY KEY (org_id, seq, at);
alter table board_columns add constraint board_columns_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table board_columns add constraint board_columns_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table board_columns add constraint board_columns_pkey PRIMARY KEY (org_id, id);
alter table board_columns add constraint board_columns_status_check CHECK ((status = ANY (ARRAY['backlog'::text, 'ready'::text, 'in_progress'::text, 'in_review'::text, 'done'::text])));
alter table board_columns add constraint board_columns_wip_limit_check CHECK ((wip_limit >= 1));
alter table broadcasts add constraint broadcasts_level_check CHECK ((level = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])));
alter table broadcasts add constraint broadcasts_message_check CHECK (((length(message) >= 1) AND (length(message) <= 4000)));
alter table broadcasts add constraint broadcasts_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table broadcasts add constraint broadcasts_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table broadcasts add constraint broadcasts_org_id_sender_member_id_fkey FOREIGN KEY (org_id, sender_member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table broadcasts add constraint broadcasts_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES teams(org_id, id) ON DELETE CASCADE;
alter table broadcasts add constraint broadcasts_pkey PRIMARY KEY (org_id, id);
alter table budgets add constraint budgets_action_check CHECK ((action = ANY (ARRAY['notify'::text, 'stop'::text])));
alter table budgets add constraint budgets_amount_micros_check CHECK ((amount_micros > 0));
alter table budgets add constraint budgets_check CHECK (((scope = ANY (ARRAY['project'::text, 'story'::text])) = (project_id IS NOT NULL)));
alter table budgets add constraint budgets_check1 CHECK (((scope = 'agent'::text) = (agent_id IS NOT NULL)));
alter table budgets add constraint budgets_check2 CHECK (((scope = 'story'::text) = (story_id IS NOT NULL)));
alter table budgets add constraint budgets_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text));
alter table budgets add constraint budgets_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table budgets add constraint budgets_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table budgets add constraint budgets_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table budgets add constraint budgets_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table budgets add constraint budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text])));
alter table budgets add constraint budgets_pkey PRIMARY KEY (org_id, id);
alter table budgets add constraint budgets_scope_check CHECK ((scope = ANY (ARRAY['org'::text, 'project'::text, 'agent'::text, 'story'::text])));
alter table catalog_agents add constraint catalog_agents_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table catalog_agents add constraint catalog_agents_org_id_publisher_id_fkey FOREIGN KEY (org_id, publisher_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table catalog_agents add constraint catalog_agents_org_id_slug_key UNIQUE (org_id, slug);
alter table catalog_agents add constraint catalog_agents_pkey PRIMARY KEY (org_id, id);
alter table catalog_agents add constraint catalog_agents_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND (length(slug) <= 64)));
alter table catalog_tombstones add constraint catalog_tombstones_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table catalog_tombstones add constraint catalog_tombstones_pkey PRIMARY KEY (org_id, slug, version);
alter table catalog_versions add constraint catalog_versions_check CHECK (((size = octet_length(content)) AND ((size >= 1) AND (size <= 4194304))));
alter table catalog_versions add constraint catalog_versions_encoding_check CHECK ((encoding = ANY (ARRAY['utf8'::text, 'base64'::text])));
alter table catalog_versions add constraint catalog_versions_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES catalog_agents(org_id, id) ON DELETE CASCADE;
alter table catalog_versions add constraint catalog_versions_pkey PRIMARY KEY (org_id, agent_id, version);
alter table catalog_versions add constraint catalog_versions_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
alter table catalog_versions add constraint catalog_versions_version_check CHECK ((length(version) <= 128));
alter table code_change_files add constraint code_change_files_org_id_changes_id_fkey FOREIGN KEY (org_id, changes_id) REFERENCES code_changes(org_id, id) ON DELETE CASCADE;
alter table code_change_files add constraint code_change_files_pkey PRIMARY KEY (org_id, changes_id, seq);
alter table code_changes add constraint code_changes_org_id_attachment_id_fkey FOREIGN KEY (org_id, attachment_id) REFERENCES attachments(org_id, id) ON DELETE CASCADE;
alter table code_changes add constraint code_changes_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table code_changes add constraint code_changes_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table code_changes add constraint code_changes_pkey PRIMARY KEY (org_id, id);
alter table code_changes add constraint code_changes_source_check CHECK ((source = ANY (ARRAY['forge'::text, 'runner'::text])));
alter table code_changes add constraint code_changes_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'failed'::text])));
alter table comment_reactions add constraint comment_reactions_org_id_comment_id_fkey FOREIGN KEY (org_id, comment_id) REFERENCES comments(org_id, id) ON DELETE CASCADE;
alter table comment_reactions add constraint comment_reactions_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table comment_reactions add constraint comment_reactions_pkey PRIMARY KEY (org_id, comment_id, emoji, member_id);
alter table comments add constraint comments_check CHECK (((body IS NULL) = (deleted_at IS NOT NULL)));
alter table comments add constraint comments_check1 CHECK (((imported_by IS NULL) = (imported_from IS NULL)));
alter table comments add constraint comments_kind_check CHECK ((kind = ANY (ARRAY['comment'::text, 'question'::text, 'decision'::text])));
alter table comments add constraint comments_org_id_directed_to_fkey FOREIGN KEY (org_id, directed_to) REFERENCES members(org_id, id);
alter table comments add constraint comments_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table comments add constraint comments_org_id_story_id_id_key UNIQUE (org_id, story_id, id);
alter table comments add constraint comments_org_id_story_id_parent_id_fkey FOREIGN KEY (org_id, story_id, parent_id) REFERENCES comments(org_id, story_id, id) ON DELETE CASCADE;
alter table comments add constraint comments_pkey PRIMARY KEY (org_id, id);
alter table connections add constraint connections_check CHECK ((expires_at <= (created_at + '90 days'::interval)));
alter table connections add constraint connections_client_host_check CHECK (((length(client_host) >= 1) AND (length(client_host) <= 255)));
alter table connections add constraint connections_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 2048)));
alter table connections add constraint connections_client_name_check CHECK (((length(client_name) >= 1) AND (length(client_name) <= 120)));
alter table connections add constraint connections_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table connections add constraint connections_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table connections add constraint connections_pkey PRIMARY KEY (org_id, id);
alter table connections add constraint connections_resource_check CHECK (((length(resource) >= 1) AND (length(resource) <= 2048)));
alter table connections add constraint connections_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'write'::text, 'admin'::text]) AND (cardinality(scopes) > 0)));
alter table contract_stories add constraint contract_stories_org_id_project_id_contract_id_fkey FOREIGN KEY (org_id, project_id, contract_id) REFERENCES contracts(org_id, project_id, id) ON DELETE CASCADE;
alter table contract_stories add constraint contract_stories_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table contract_stories add constraint contract_stories_pkey PRIMARY KEY (org_id, story_id, slug);
alter table contract_versions add constraint contract_versions_content_check CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 262144)));
alter table contract_versions add constraint contract_versions_kind_check CHECK ((kind = ANY (ARRAY['openapi'::text, 'json_schema'::text, 'typescript'::text, 'protobuf'::text, 'graphql'::text, 'markdown'::text])));
alter table contract_versions add constraint contract_versions_org_id_project_id_contract_id_fkey FOREIGN KEY (org_id, project_id, contract_id) REFERENCES contracts(org_id, project_id, id) ON DELETE CASCADE;
alter table contract_versions add constraint contract_versions_pkey PRIMARY KEY (org_id, contract_id, version);
alter table contract_versions add constraint contract_versions_version_check CHECK ((version >= 1));
alter table contracts add constraint contracts_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table contracts add constraint contracts_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table contracts add constraint contracts_org_id_project_id_slug_key UNIQUE (org_id, project_id, slug);
alter table contracts add constraint contracts_pkey PRIMARY KEY (org_id, id);
alter table contracts add constraint contracts_slug_check CHECK ((slug ~ '^[a-z0-9-]{1,64}$'::text));
alter table contracts add constraint contracts_version_check CHECK ((version >= 0));
alter table deleted_records add constraint deleted_records_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES deleted_stories(org_id, id) ON DELETE CASCADE;
alter table deleted_records add constraint deleted_records_pkey PRIMARY KEY (org_id, story_id, nth);
alter table deleted_stories add constraint deleted_stories_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table deleted_stories add constraint deleted_stories_pkey PRIMARY KEY (org_id, id);
alter table delivery_group_stories add constraint delivery_group_stories_org_id_project_id_group_id_fkey FOREIGN KEY (org_id, project_id, group_id) REFERENCES delivery_groups(org_id, project_id, id) ON DELETE CASCADE;
alter table delivery_group_stories add constraint delivery_group_stories_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table delivery_group_stories add constraint delivery_group_stories_pkey PRIMARY KEY (org_id, group_id, story_id);
alter table delivery_groups add constraint delivery_groups_merge_strategy_check CHECK ((merge_strategy = ANY (ARRAY['per_story'::text, 'integration_branch'::text, 'stacked'::text])));
alter table delivery_groups add constraint delivery_groups_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table delivery_groups add constraint delivery_groups_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table delivery_groups add constraint delivery_groups_pkey PRIMARY KEY (org_id, id);
alter table delivery_groups add constraint delivery_groups_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'active'::text, 'in_review'::text, 'landed'::text, 'abandoned'::text])));
alter table devices add constraint devices_device_id_check CHECK (((length(device_id) >= 1) AND (length(device_id) <= 128)));
alter table devices add constraint devices_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table devices add constraint devices_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table devices add constraint devices_org_id_token_id_fkey FOREIGN KEY (org_id, token_id) REFERENCES tokens(org_id, id) ON DELETE CASCADE;
alter table devices add constraint devices_pkey PRIMARY KEY (org_id, member_id, device_id);
alter table devices add constraint devices_platform_check CHECK ((platform = ANY (ARRAY['macos'::text, 'windows'::text, 'linux'::text, 'ios'::text, 'android'::text, 'web'::text, 'slack'::text, 'teams'::text, 'slack_account'::text])));
alter table devices add constraint devices_token_check CHECK (((token_id IS NOT NULL) OR (platform = ANY (ARRAY['slack'::text, 'teams'::text, 'slack_account'::text]))));
alter table epics add constraint epics_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table epics add constraint epics_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table epics add constraint epics_pkey PRIMARY KEY (org_id, id);
alter table epics add constraint epics_status_check CHECK ((status = ANY (ARRAY['open'::text, 'done'::text, 'canceled'::text])));
alter table execution_contributors add constraint execution_contributors_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table execution_contributors add constraint execution_contributors_pkey PRIMARY KEY (org_id, execution_id, member_id, agent_id);
alter table execution_events add constraint execution_events_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table execution_events add constraint execution_events_pkey PRIMARY KEY (org_id, execution_id, seq, at);
alter table executions add constraint executions_check CHECK (((state = 'completed'::text) = (completed_at IS NOT NULL)));
alter table executions add constraint executions_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table executions add constraint executions_outcome_check CHECK ((outcome = ANY (ARRAY['submitted'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text])));
alter table executions add constraint executions_phase_check CHECK ((phase = ANY (ARRAY['planning'::text, 'implementing'::text, 'testing'::text, 'reviewing'::text, 'merging'::text])));
alter table executions add constraint executions_pkey PRIMARY KEY (org_id, id);
alter table executions add constraint executions_progress_check CHECK (((progress >= 0) AND (progress <= 100)));
alter table executions add constraint executions_state_check CHECK ((state = ANY (ARRAY['available'::text, 'leased'::text, 'waiting_input'::text, 'offered'::text, 'submitted'::text, 'completed'::text])));
alter table executions add constraint executions_target_type_check CHECK ((target_type = ANY (ARRAY['story'::text, 'delivery_group'::text])));
alter table export_files add constraint export_files_org_id_export_id_fkey FOREIGN KEY (org_id, export_id) REFERENCES exports(org_id, id) ON DELETE CASCADE;
alter table export_files add constraint export_files_pkey PRIMARY KEY (org_id, export_id, name);
alter table export_parts add constraint export_parts_org_id_export_id_fkey FOREIGN KEY (org_id, export_id) REFERENCES exports(org_id, id) ON DELETE CASCADE;
alter table export_parts add constraint export_parts_pkey PRIMARY KEY (org_id, id);
alter table exports add constraint exports_check CHECK (((scope = 'project'::text) = (project_id IS NOT NULL)));
alter table exports add constraint exports_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table exports add constraint exports_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table exports add constraint exports_pkey PRIMARY KEY (org_id, id);
alter table exports add constraint exports_progress_check CHECK (((progress >= 0) AND (progress <= 100)));
alter table exports add constraint exports_scope_check CHECK ((scope = ANY (ARRAY['org'::text, 'project'::text, 'me'::text])));
alter table exports add constraint exports_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])));
alter table forge_checks add constraint forge_checks_org_id_repository_id_fkey FOREIGN KEY (org_id, repository_id) REFERENCES forge_repositories(org_id, id) ON DELETE CASCADE;
alter table forge_checks add constraint forge_checks_pkey PRIMARY KEY (org_id, repository_id, sha, name, at, state, trust);
alter table forge_checks add constraint forge_checks_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'passed'::text, 'failed'::text])));
alter table forge_checks add constraint forge_checks_trust_check CHECK ((trust = ANY (ARRAY['reported'::text, 'verified'::text])));
alter table forge_connections add constraint forge_connections_base_url_check CHECK (((length(base_url) >= 1) AND (length(base_url) <= 2048)));
alter table forge_connections add constraint forge_connections_check CHECK (((credentials IS NULL) = (credentials_kind IS NULL)));
alter table forge_connections add constraint forge_connections_credentials_kind_check CHECK ((credentials_kind = ANY (ARRAY['token'::text, 'app'::text])));
alter table forge_connections add constraint forge_connections_kind_check CHECK ((kind = ANY (ARRAY['github'::text, 'gitlab'::text, 'gitea'::text, 'forgejo'::text])));
alter table forge_connections add constraint forge_connections_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table forge_connections add constraint forge_connections_pkey PRIMARY KEY (org_id, id);
alter table forge_deliveries add constraint forge_deliveries_org_id_connection_id_delivery_id_key UNIQUE (org_id, connection_id, delivery_id);
alter table forge_deliveries add constraint forge_deliveries_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES forge_connections(org_id, id) ON DELETE CASCADE;
alter table forge_deliveries add constraint forge_deliveries_pkey PRIMARY KEY (org_id, id);
alter table forge_deliveries add constraint forge_deliveries_state_check CHECK ((state = ANY (ARRAY['received'::text, 'recorded'::text, 'parked'::text, 'ignored'::text, 'failed'::text])));
alter table forge_deliveries add constraint forge_deliveries_trust_check CHECK ((trust = ANY (ARRAY['reported'::text, 'verified'::text])));
alter table forge_facts add constraint forge_facts_org_id_repository_id_fkey FOREIGN KEY (org_id, repository_id) REFERENCES forge_repositories(org_id, id) ON DELETE CASCADE;
alter table forge_facts add constraint forge_facts_org_id_repository_id_trust_dedupe_key_key UNIQUE (org_id, repository_id, trust, dedupe_key);
alter table forge_facts add constraint forge_facts_pkey PRIMARY KEY (org_id, id);
alter table forge_facts add constraint forge_facts_trust_check CHECK ((trust = ANY (ARRAY['reported'::text, 'verified'::text])));
alter table forge_observations add constraint forge_observations_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table forge_observations add constraint forge_observations_pkey PRIMARY KEY (org_id, execution_id, dedupe_key);
alter table forge_observations add constraint forge_observations_trust_check CHECK ((trust = ANY (ARRAY['reported'::text, 'verified'::text])));
alter table forge_pulls add constraint forge_pulls_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table forge_pulls add constraint forge_pulls_org_id_repository_id_fkey FOREIGN KEY (org_id, repository_id) REFERENCES forge_repositories(org_id, id) ON DELETE CASCADE;
alter table forge_pulls add constraint forge_pulls_pkey PRIMARY KEY (org_id, execution_id);
alter table forge_repositories add constraint forge_repositories_check CHECK (((external_id IS NOT NULL) OR (url IS NOT NULL)));
alter table forge_repositories add constraint forge_repositories_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES forge_connections(org_id, id) ON DELETE CASCADE;
alter table forge_repositories add constraint forge_repositories_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table forge_repositories add constraint forge_repositories_pkey PRIMARY KEY (org_id, id);
alter table forge_statuses add constraint forge_statuses_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES forge_connections(org_id, id) ON DELETE CASCADE;
alter table forge_statuses add constraint forge_statuses_pkey PRIMARY KEY (org_id, connection_id, external_id, sha);
alter table forge_statuses add constraint forge_statuses_state_check CHECK ((state = ANY (ARRAY['success'::text, 'pending'::text, 'failure'::text])));
alter table gamification_state add constraint gamification_state_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table gamification_state add constraint gamification_state_pkey PRIMARY KEY (org_id);
alter table gamification_state add constraint gamification_state_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text])));
alter table idempotency_keys add constraint idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)));
alter table idempotency_keys add constraint idempotency_keys_org_id_token_id_fkey FOREIGN KEY (org_id, token_id) REFERENCES tokens(org_id, id) ON DELETE CASCADE;
alter table idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (org_id, token_id, operation, key);
alter table identity_provider_domains add constraint identity_provider_domains_domain_check CHECK ((((length(domain) >= 3) AND (length(domain) <= 253)) AND (domain = lower(domain))));
alter table identity_provider_domains add constraint identity_provider_domains_org_id_provider_id_fkey FOREIGN KEY (org_id, provider_id) REFERENCES identity_providers(org_id, id) ON DELETE CASCADE;
alter table identity_provider_domains add constraint identity_provider_domains_pkey PRIMARY KEY (org_id, provider_id, domain);
alter table identity_providers add constraint identity_providers_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 255)));
alter table identity_providers add constraint identity_providers_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 2048)));
alter table identity_providers add constraint identity_providers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table identity_providers add constraint identity_providers_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table identity_providers add constraint identity_providers_pkey PRIMARY KEY (org_id, id);
alter table identity_providers add constraint identity_providers_problem_check CHECK (((length(problem) >= 1) AND (length(problem) <= 500)));
alter table import_items add constraint import_items_kind_check CHECK ((kind = ANY (ARRAY['story'::text, 'epic'::text, 'comment'::text, 'project'::text, 'column'::text, 'member'::text, 'agent'::text, 'team'::text, 'reviewer'::text, 'assignment'::text, 'attachment'::text, 'contract'::text, 'prompt'::text, 'view'::text])));
alter table import_items add constraint import_items_org_id_import_id_fkey FOREIGN KEY (org_id, import_id) REFERENCES imports(org_id, id) ON DELETE CASCADE;
alter table import_items add constraint import_items_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table import_items add constraint import_items_pkey PRIMARY KEY (org_id, project_id, provider, kind, external_id);
alter table import_items add constraint import_items_source_hash_check CHECK ((length(source_hash) = 32));
alter table imports add constraint imports_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table imports add constraint imports_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table imports add constraint imports_pkey PRIMARY KEY (org_id, id);
alter table imports add constraint imports_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'jira'::text, 'linear'::text, 'other'::text, 'muster'::text])));
alter table imports add constraint imports_state_check CHECK ((state = ANY (ARRAY['open'::text, 'finished'::text, 'reverted'::text])));
alter table inbox_items add constraint inbox_items_kind_check CHECK ((kind = ANY (ARRAY['verdict'::text, 'stop'::text, 'stop_lifted'::text, 'mention'::text, 'offer'::text, 'assigned'::text, 'unassigned'::text, 'unblocked'::text, 'question'::text, 'question_answered'::text, 'spec_changed'::text, 'lease_lost'::text, 'merged'::text, 'checks_failed'::text])));
alter table inbox_items add constraint inbox_items_org_id_recipient_id_fkey FOREIGN KEY (org_id, recipient_id) REFERENCES inbox_streams(org_id, recipient_id) ON DELETE CASCADE;
alter table inbox_items add constraint inbox_items_pkey PRIMARY KEY (org_id, recipient_id, seq);
alter table inbox_streams add constraint inbox_streams_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table inbox_streams add constraint inbox_streams_pkey PRIMARY KEY (org_id, recipient_id);
alter table invitations add constraint invitations_check CHECK (((member_id IS NULL) = (state <> 'accepted'::text)));
alter table invitations add constraint invitations_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table invitations add constraint invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table invitations add constraint invitations_pkey PRIMARY KEY (org_id, id);
alter table invitations add constraint invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text, 'viewer'::text])));
alter table invitations add constraint invitations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'accepted'::text, 'revoked'::text])));
alter table invitations add constraint invitations_token_hash_check CHECK ((length(token_hash) = 32));
alter table invitations add constraint invitations_token_hash_key UNIQUE (token_hash);
alter table leases add constraint leases_check CHECK (((state = 'held'::text) = ((token_hash IS NOT NULL) AND (holder IS NOT NULL) AND (expires_at IS NOT NULL))));
alter table leases add constraint leases_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table leases add constraint leases_pkey PRIMARY KEY (org_id, unit_type, unit_id);
alter table leases add constraint leases_state_check CHECK ((state = ANY (ARRAY['free'::text, 'held'::text])));
alter table leases add constraint leases_token_hash_check CHECK ((length(token_hash) = 32));
alter table leases add constraint leases_unit_type_check CHECK ((unit_type = ANY (ARRAY['story'::text, 'delivery_group'::text, 'coordination'::text])));
alter table lock_counters add constraint lock_counters_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table lock_counters add constraint lock_counters_pkey PRIMARY KEY (org_id, project_id);
alter table locks add constraint locks_mode_check CHECK ((mode = ANY (ARRAY['exclusive'::text, 'shared'::text])));
alter table locks add constraint locks_org_id_execution_id_fkey FOREIGN KEY (org_id, execution_id) REFERENCES executions(org_id, id) ON DELETE CASCADE;
alter table locks add constraint locks_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table locks add constraint locks_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id);
alter table locks add constraint locks_pkey PRIMARY KEY (org_id, id);
alter table locks add constraint locks_resources_check CHECK (((cardinality(resources) >= 1) AND (cardinality(resources) <= 50)));
alter table members add constraint members_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table members add constraint members_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 255)));
alter table members add constraint members_family_name_check CHECK (((length(family_name) >= 1) AND (length(family_name) <= 120)));
alter table members add constraint members_given_name_check CHECK (((length(given_name) >= 1) AND (length(given_name) <= 120)));
alter table members add constraint members_handle_check CHECK ((handle ~ '^[a-z0-9][a-z0-9-]{0,38}$'::text));
alter table members add constraint members_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table members add constraint members_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table members add constraint members_pkey PRIMARY KEY (org_id, id);
alter table members add constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])));
alter table members add constraint members_status_check CHECK ((status = ANY (ARRAY['active'::text, 'removed'::text])));
alter table notification_counts add constraint notification_counts_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table notification_counts add constraint notification_counts_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table notification_counts add constraint notification_counts_pkey PRIMARY KEY (org_id, member_id, kind, place_id);
alter table notification_digests add constraint notification_digests_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table notification_digests add constraint notification_digests_pkey PRIMARY KEY (org_id, member_id);
alter table notification_preferences add constraint notification_preferences_channel_check CHECK ((channel = ANY (ARRAY['inbox'::text, 'email'::text, 'push'::text, 'digest'::text])));
alter table notification_preferences add constraint notification_preferences_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table notification_preferences add constraint notification_preferences_pkey PRIMARY KEY (org_id, member_id, kind, channel);
alter table notification_snoozes add constraint notification_snoozes_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table notification_snoozes add constraint notification_snoozes_org_id_notification_id_fkey FOREIGN KEY (org_id, notification_id) REFERENCES notifications(org_id, id) ON DELETE CASCADE;
alter table notification_snoozes add constraint notification_snoozes_pkey PRIMARY KEY (org_id, notification_id);
alter table notifications add constraint notifications_kind_check CHECK ((kind = ANY (ARRAY['mention'::text, 'assigned'::text, 'review_requested'::text, 'review_verdict'::text, 'comment_reply'::text, 'handoff'::text, 'lease_expired'::text, 'lock_taken_over'::text, 'lease_taken_over'::text, 'broadcast'::text, 'invitation_accepted'::text, 'access_requested'::text, 'access_resolved'::text, 'seat_limit'::text, 'webhook_paused'::text, 'unblocked'::text, 'forge_failing'::text, 'merge_reverted'::text, 'budget_warning'::text, 'subscribed'::text])));
alter table notifications add constraint notifications_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table notifications add constraint notifications_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table notifications add constraint notifications_pkey PRIMARY KEY (org_id, id);
alter table orgs add constraint orgs_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table orgs add constraint orgs_pkey PRIMARY KEY (id);
alter table orgs add constraint orgs_slug_check CHECK ((slug ~ '^[a-z0-9-]{3,40}$'::text));
alter table orgs add constraint orgs_slug_key UNIQUE (slug);
alter table outbox add constraint outbox_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table outbox add constraint outbox_pkey PRIMARY KEY (org_id, id);
alter table plan_items add constraint plan_items_kind_check CHECK ((kind = ANY (ARRAY['story'::text, 'epic'::text])));
alter table plan_items add constraint plan_items_org_id_plan_id_fkey FOREIGN KEY (org_id, plan_id) REFERENCES plans(org_id, id) ON DELETE CASCADE;
alter table plan_items add constraint plan_items_pkey PRIMARY KEY (org_id, plan_id, kind, ref);
alter table plan_items add constraint plan_items_ref_check CHECK (((length(ref) >= 1) AND (length(ref) <= 120)));
alter table plans add constraint plans_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table plans add constraint plans_org_id_project_id_ref_key UNIQUE (org_id, project_id, ref);
alter table plans add constraint plans_pkey PRIMARY KEY (org_id, id);
alter table plans add constraint plans_ref_check CHECK (((length(ref) >= 1) AND (length(ref) <= 120)));
alter table point_days add constraint point_days_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table point_days add constraint point_days_pkey PRIMARY KEY (org_id, member_id, day);
alter table point_days add constraint point_days_points_check CHECK ((points >= 0));
alter table point_entries add constraint point_entries_check CHECK ((taken_back_seq > activity_seq));
alter table point_entries add constraint point_entries_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table point_entries add constraint point_entries_pkey PRIMARY KEY (org_id, activity_seq, member_id, kind);
alter table point_entries add constraint point_entries_points_check CHECK ((points > 0));
alter table point_resets add constraint point_resets_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table point_resets add constraint point_resets_pkey PRIMARY KEY (org_id, member_id);
alter table point_scores add constraint point_scores_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table point_scores add constraint point_scores_period_check CHECK ((period = ANY (ARRAY['week'::text, 'month'::text, 'all'::text])));
alter table point_scores add constraint point_scores_pkey PRIMARY KEY (org_id, period, starts_on, scope_id, member_id);
alter table point_scores add constraint point_scores_points_check CHECK ((points >= 0));
alter table point_tallies add constraint point_tallies_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table point_tallies add constraint point_tallies_pkey PRIMARY KEY (org_id, member_id, kind);
alter table point_tallies add constraint point_tallies_points_check CHECK ((points >= 0));
alter table point_tallies add constraint point_tallies_times_check CHECK ((times >= 0));
alter table project_counters add constraint project_counters_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table project_counters add constraint project_counters_pkey PRIMARY KEY (org_id, project_id);
alter table project_members add constraint project_members_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table project_members add constraint project_members_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table project_members add constraint project_members_pkey PRIMARY KEY (org_id, project_id, member_id);
alter table project_members add constraint project_members_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'contributor'::text, 'viewer'::text])));
alter table project_teams add constraint project_teams_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table project_teams add constraint project_teams_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES teams(org_id, id) ON DELETE CASCADE;
alter table project_teams add constraint project_teams_pkey PRIMARY KEY (org_id, project_id, team_id);
alter table project_teams add constraint project_teams_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'contributor'::text, 'viewer'::text])));
alter table projects add constraint projects_check CHECK (((key ~ '^[A-Z][A-Z0-9]{1,9}$'::text) OR (deleted_at IS NOT NULL)));
alter table projects add constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table projects add constraint projects_org_id_key_key UNIQUE (org_id, key);
alter table projects add constraint projects_origin_check CHECK ((origin = ANY (ARRAY['hosted'::text, 'converted'::text])));
alter table projects add constraint projects_pkey PRIMARY KEY (org_id, id);
alter table projects add constraint projects_visibility_check CHECK ((visibility = ANY (ARRAY['org'::text, 'private'::text])));
alter table prompts add constraint prompts_body_check CHECK ((octet_length(body) <= 65536));
alter table prompts add constraint prompts_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table prompts add constraint prompts_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table prompts add constraint prompts_pkey PRIMARY KEY (org_id, id);
alter table prompts add constraint prompts_slug_check CHECK ((slug ~ '^[a-z0-9-]{1,64}$'::text));
alter table prompts add constraint prompts_title_check CHECK (((length(title) >= 1) AND (length(title) <= 200)));
alter table rights_epochs add constraint rights_epochs_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table rights_epochs add constraint rights_epochs_pkey PRIMARY KEY (org_id);
alter table run_logs add constraint run_logs_check CHECK ((last_line >= first_line));
alter table run_logs add constraint run_logs_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES agent_runs(org_id, id) ON DELETE CASCADE;
alter table run_logs add constraint run_logs_pkey PRIMARY KEY (org_id, run_id, last_line);
alter table run_usage add constraint run_usage_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text));
alter table run_usage add constraint run_usage_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table run_usage add constraint run_usage_pkey PRIMARY KEY (org_id, project_id, run_id, member_id, agent_id, model, currency);
alter table search_documents add constraint search_documents_check CHECK (((project_id IS NULL) = (kind = 'member'::text)));
alter table search_documents add constraint search_documents_kind_check CHECK ((kind = ANY (ARRAY['story'::text, 'epic'::text, 'spec'::text, 'comment'::text, 'member'::text])));
alter table search_documents add constraint search_documents_pkey PRIMARY KEY (org_id, id, kind);
alter table search_words add constraint search_words_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table search_words add constraint search_words_pkey PRIMARY KEY (org_id, word, written_by);
alter table seat_ledger add constraint seat_ledger_check CHECK ((from_seats <> to_seats));
alter table seat_ledger add constraint seat_ledger_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text));
alter table seat_ledger add constraint seat_ledger_from_seats_check CHECK ((from_seats >= 1));
alter table seat_ledger add constraint seat_ledger_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table seat_ledger add constraint seat_ledger_org_id_version_key UNIQUE (org_id, version);
alter table seat_ledger add constraint seat_ledger_pkey PRIMARY KEY (org_id, id);
alter table seat_ledger add constraint seat_ledger_to_seats_check CHECK ((to_seats >= 1));
alter table seat_usage add constraint seat_usage_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table seat_usage add constraint seat_usage_pkey PRIMARY KEY (org_id);
alter table sign_in.accounts add constraint accounts_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table sign_in.accounts add constraint accounts_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table sign_in.accounts add constraint accounts_pkey PRIMARY KEY (id);
alter table sign_in.flows add constraint flows_hash_check CHECK ((length(hash) = 32));
alter table sign_in.flows add constraint flows_pkey PRIMARY KEY (hash);
alter table sign_in.identities add constraint identities_account_id_fkey FOREIGN KEY (account_id) REFERENCES sign_in.accounts(id) ON DELETE CASCADE;
alter table sign_in.identities add constraint identities_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table sign_in.identities add constraint identities_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 2048)));
alter table sign_in.identities add constraint identities_pkey PRIMARY KEY (issuer, subject);
alter table sign_in.identities add constraint identities_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)));
alter table sign_in.oauth_records add constraint oauth_records_id_hash_check CHECK ((length(id_hash) = 32));
alter table sign_in.oauth_records add constraint oauth_records_pkey PRIMARY KEY (model, id_hash);
alter table sign_in.passkeys add constraint passkeys_account_id_fkey FOREIGN KEY (account_id) REFERENCES sign_in.accounts(id) ON DELETE CASCADE;
alter table sign_in.passkeys add constraint passkeys_credential_id_check CHECK (((length(credential_id) >= 1) AND (length(credential_id) <= 1023)));
alter table sign_in.passkeys add constraint passkeys_credential_id_key UNIQUE (credential_id);
alter table sign_in.passkeys add constraint passkeys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table sign_in.passkeys add constraint passkeys_pkey PRIMARY KEY (id);
alter table sign_in.peers add constraint peers_pkey PRIMARY KEY (name);
alter table sign_in.sessions add constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES sign_in.accounts(id) ON DELETE CASCADE;
alter table sign_in.sessions add constraint sessions_check CHECK ((expires_at <= ends_at));
alter table sign_in.sessions add constraint sessions_hash_check CHECK ((length(hash) = 32));
alter table sign_in.sessions add constraint sessions_hash_key UNIQUE (hash);
alter table sign_in.sessions add constraint sessions_pkey PRIMARY KEY (id);
alter table sign_in.sign_ins add constraint sign_ins_code_hash_check CHECK ((length(code_hash) = 32));
alter table sign_in.sign_ins add constraint sign_ins_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table sign_in.sign_ins add constraint sign_ins_hash_check CHECK ((length(hash) = 32));
alter table sign_in.sign_ins add constraint sign_ins_hash_key UNIQUE (hash);
alter table sign_in.sign_ins add constraint sign_ins_nonce_hash_check CHECK ((length(nonce_hash) = 32));
alter table sign_in.sign_ins add constraint sign_ins_pkey PRIMARY KEY (id);
alter table sign_in.unsent add constraint unsent_peer_fkey FOREIGN KEY (peer) REFERENCES sign_in.peers(name) ON DELETE CASCADE;
alter table sign_in.unsent add constraint unsent_pkey PRIMARY KEY (peer, kind, id);
alter table stories add constraint stories_check CHECK (((column_id IS NULL) = (status = 'canceled'::text)));
alter table stories add constraint stories_org_id_project_id_column_id_fkey FOREIGN KEY (org_id, project_id, column_id) REFERENCES board_columns(org_id, project_id, id);
alter table stories add constraint stories_org_id_project_id_epic_id_fkey FOREIGN KEY (org_id, project_id, epic_id) REFERENCES epics(org_id, project_id, id);
alter table stories add constraint stories_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table stories add constraint stories_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table stories add constraint stories_org_id_project_id_number_key UNIQUE (org_id, project_id, number);
alter table stories add constraint stories_parent_fkey FOREIGN KEY (org_id, project_id, parent_id) REFERENCES stories(org_id, project_id, id);
alter table stories add constraint stories_pkey PRIMARY KEY (org_id, id);
alter table stories add constraint stories_priority_check CHECK ((priority = ANY (ARRAY['none'::text, 'low'::text, 'medium'::text, 'high'::text, 'urgent'::text])));
alter table stories add constraint stories_status_check CHECK ((status = ANY (ARRAY['backlog'::text, 'ready'::text, 'in_progress'::text, 'in_review'::text, 'done'::text, 'canceled'::text])));
alter table stories add constraint stories_title_check CHECK (((length(title) >= 1) AND (length(title) <= 300)));
alter table story_blockers add constraint story_blockers_check CHECK ((story_id <> blocker_id));
alter table story_blockers add constraint story_blockers_org_id_project_id_blocker_id_fkey FOREIGN KEY (org_id, project_id, blocker_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table story_blockers add constraint story_blockers_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table story_blockers add constraint story_blockers_pkey PRIMARY KEY (org_id, story_id, blocker_id);
alter table story_reviewers add constraint story_reviewers_check CHECK ((num_nonnulls(member_id, agent_id) = 1));
alter table story_reviewers add constraint story_reviewers_check1 CHECK ((((decided_at IS NULL) = (verdict = 'pending'::text)) AND ((spec_version IS NULL) = (verdict = 'pending'::text))));
alter table story_reviewers add constraint story_reviewers_check2 CHECK (((verdict <> 'changes_requested'::text) OR (note IS NOT NULL)));
alter table story_reviewers add constraint story_reviewers_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table story_reviewers add constraint story_reviewers_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table story_reviewers add constraint story_reviewers_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table story_reviewers add constraint story_reviewers_org_id_story_id_member_id_agent_id_key UNIQUE NULLS NOT DISTINCT (org_id, story_id, member_id, agent_id);
alter table story_reviewers add constraint story_reviewers_pkey PRIMARY KEY (org_id, id);
alter table story_reviewers add constraint story_reviewers_verdict_check CHECK ((verdict = ANY (ARRAY['pending'::text, 'approved'::text, 'changes_requested'::text, 'commented'::text])));
alter table story_selections add constraint story_selections_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table story_selections add constraint story_selections_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table story_selections add constraint story_selections_pkey PRIMARY KEY (org_id, member_id, device_id);
alter table story_specs add constraint story_specs_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table story_specs add constraint story_specs_pkey PRIMARY KEY (org_id, story_id, version);
alter table story_specs add constraint story_specs_version_check CHECK ((version >= 1));
alter table story_subscriptions add constraint story_subscriptions_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table story_subscriptions add constraint story_subscriptions_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table story_subscriptions add constraint story_subscriptions_pkey PRIMARY KEY (org_id, story_id, member_id);
alter table streams add constraint streams_lost_check CHECK ((lost_after < lost_until));
alter table streams add constraint streams_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table streams add constraint streams_pkey PRIMARY KEY (org_id);
alter table subscriptions add constraint subscriptions_check CHECK ((current_period_end > current_period_start));
alter table subscriptions add constraint subscriptions_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_pkey PRIMARY KEY (org_id);
alter table subscriptions add constraint subscriptions_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'team'::text, 'enterprise'::text])));
alter table subscriptions add constraint subscriptions_seats_check CHECK ((seats >= 1));
alter table subscriptions add constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text])));
alter table team_members add constraint team_members_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table team_members add constraint team_members_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES teams(org_id, id) ON DELETE CASCADE;
alter table team_members add constraint team_members_pkey PRIMARY KEY (org_id, team_id, member_id);
alter table team_members add constraint team_members_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'member'::text])));
alter table teams add constraint teams_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 255)));
alter table teams add constraint teams_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table teams add constraint teams_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table teams add constraint teams_pkey PRIMARY KEY (org_id, id);
alter table tokens add constraint tokens_check CHECK (((agent_id IS NULL) OR (expires_at <= (created_at + '90 days'::interval))));
alter table tokens add constraint tokens_check1 CHECK (((kind = 'session'::text) = (session_id IS NOT NULL)));
alter table tokens add constraint tokens_check2 CHECK (((kind = 'oauth'::text) = (grant_id IS NOT NULL)));
alter table tokens add constraint tokens_hash_check CHECK ((length(hash) = 32));
alter table tokens add constraint tokens_hash_key UNIQUE (hash);
alter table tokens add constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['api'::text, 'session'::text, 'oauth'::text])));
alter table tokens add constraint tokens_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table tokens add constraint tokens_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table tokens add constraint tokens_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table tokens add constraint tokens_pkey PRIMARY KEY (org_id, id);
alter table tokens add constraint tokens_prefix_check CHECK ((length(prefix) <= 20));
alter table tokens add constraint tokens_scopes_check CHECK ((scopes <@ ARRAY['read'::text, 'write'::text, 'admin'::text, 'platform'::text, 'scim'::text]));
alter table usage_days add constraint usage_days_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table usage_days add constraint usage_days_pkey PRIMARY KEY (org_id, project_id, day, member_id, agent_id, run_id, story_id, model, currency);
alter table usage_prices add constraint usage_prices_cached_micros_check CHECK ((cached_micros >= 0));
alter table usage_prices add constraint usage_prices_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text));
alter table usage_prices add constraint usage_prices_input_micros_check CHECK ((input_micros >= 0));
alter table usage_prices add constraint usage_prices_model_check CHECK (((length(model) >= 1) AND (length(model) <= 120)));
alter table usage_prices add constraint usage_prices_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table usage_prices add constraint usage_prices_output_micros_check CHECK ((output_micros >= 0));
alter table usage_prices add constraint usage_prices_pkey PRIMARY KEY (org_id, model, currency, valid_from);
alter table views add constraint views_layout_check CHECK ((layout = ANY (ARRAY['board'::text, 'list'::text, 'table'::text, 'timeline'::text])));
alter table views add constraint views_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table views add constraint views_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table views add constraint views_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table views add constraint views_pkey PRIMARY KEY (org_id, id);
alter table webhook_deliveries add constraint webhook_deliveries_check CHECK ((num_nonnulls(activity_seq, audit_seq) = num_nonnulls(seq)));
alter table webhook_deliveries add constraint webhook_deliveries_org_id_webhook_id_fkey FOREIGN KEY (org_id, webhook_id) REFERENCES webhooks(org_id, id) ON DELETE CASCADE;
alter table webhook_deliveries add constraint webhook_deliveries_pkey PRIMARY KEY (org_id, id);
alter table webhook_deliveries add constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])));
alter table webhooks add constraint webhooks_check CHECK (((paused_at IS NULL) = (paused_reason IS NULL)));
alter table webhooks add constraint webhooks_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'slack'::text, 'teams'::text])));
alter table webhooks add constraint webhooks_kinds_check CHECK ((cardinality(kinds) > 0));
alter table webhooks add constraint webhooks_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table webhooks add constraint webhooks_org_id_maker_id_fkey FOREIGN KEY (org_id, maker_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table webhooks add constraint webhooks_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table webhooks add constraint webhooks_paused_reason_check CHECK ((paused_reason = ANY (ARRAY['asked'::text, 'failing'::text, 'gone'::text, 'maker_left'::text, 'secret_unreadable'::text])));
alter table webhooks add constraint webhooks_pkey PRIMARY KEY (org_id, id);
alter table webhooks add constraint webhooks_send_order_check CHECK ((send_order = ANY (ARRAY['parallel'::text, 'strict'::text])));
alter table webhooks add constraint webhooks_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)));

-- Indexes

CREATE INDEX access_requests_member ON public.access_requests USING btree (org_id, member_id);
CREATE INDEX access_requests_project ON public.access_requests USING btree (org_id, project_id, id DESC);
CREATE INDEX access_requests_state ON public.access_requests USING btree (org_id, project_id, state, id DESC);
CREATE INDEX activity_agent ON ONLY public.activity USING btree (org_id, agent_id, seq DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX activity_group ON ONLY public.activity USING btree (org_id, group_id, seq DESC) WHERE (group_id IS NOT NULL);
CREATE INDEX activity_member ON ONLY public.activity USING btree (org_id, member_id, seq DESC);
CREATE INDEX activity_project ON ONLY public.activity USING btree (org_id, project_id, seq DESC);
CREATE INDEX activity_story ON ONLY public.activity USING btree (org_id, story_id, seq DESC) WHERE (story_id IS NOT NULL);
CREATE INDEX agent_runs_agent ON public.agent_runs USING btree (org_id, agent_id, state, id) WHERE (agent_id IS NOT NULL);
CREATE INDEX agent_runs_execution ON public.agent_runs USING btree (org_id, execution_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX agent_runs_member ON public.agent_runs USING btree (org_id, member_id) WHERE (ended_at IS NULL);
CREATE INDEX agent_runs_over ON public.agent_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX agent_runs_project ON public.agent_runs USING btree (org_id, project_id, state, id);
CREATE INDEX agent_runs_seen ON public.agent_runs USING btree (org_id, last_seen_at) WHERE (ended_at IS NULL);
CREATE INDEX agent_runs_story ON public.agent_runs USING btree (org_id, story_id) WHERE (story_id IS NOT NULL);
CREATE INDEX agents_member ON public.agents USING btree (org_id, member_id, id);
CREATE INDEX agents_slug_of_org ON public.agents USING btree (org_id, slug);
CREATE INDEX assignments_agent ON public.assignments USING btree (org_id, agent_id, target_type, target_id);
CREATE INDEX assignments_member ON public.assignments USING btree (org_id, member_id, target_type, target_id);
CREATE INDEX assignments_project ON public.assignments USING btree (org_id, project_id, target_type, target_id);
CREATE INDEX attachments_comment ON public.attachments USING btree (org_id, comment_id, id) WHERE (comment_id IS NOT NULL);
CREATE INDEX attachments_execution ON public.attachments USING btree (org_id, execution_id, id) WHERE (execution_id IS NOT NULL);
CREATE INDEX attachments_pending ON public.attachments USING btree (created_at) WHERE (state = 'pending'::text);
CREATE INDEX attachments_project ON public.attachments USING btree (org_id, project_id);
CREATE INDEX attachments_size ON public.attachments USING btree (org_id) INCLUDE (size);
CREATE INDEX attachments_story ON public.attachments USING btree (org_id, story_id, id) WHERE (story_id IS NOT NULL);
CREATE INDEX audit_age ON ONLY public.audit USING btree (org_id, at);
CREATE INDEX audit_agent ON ONLY public.audit USING btree (org_id, agent_id, seq DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX audit_denied ON ONLY public.audit USING btree (org_id, seq DESC) WHERE (outcome = 'denied'::text);
CREATE INDEX audit_member ON ONLY public.audit USING btree (org_id, member_id, seq DESC);
CREATE INDEX audit_operation ON ONLY public.audit USING btree (org_id, operation, seq DESC);
CREATE INDEX board_columns_order ON public.board_columns USING btree (org_id, project_id, "position");
CREATE INDEX broadcasts_newest ON public.broadcasts USING btree (org_id, created_at DESC, id DESC);
CREATE INDEX broadcasts_project ON public.broadcasts USING btree (org_id, project_id, created_at DESC, id DESC) WHERE (project_id IS NOT NULL);
CREATE INDEX broadcasts_team ON public.broadcasts USING btree (org_id, team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX budgets_agent ON public.budgets USING btree (org_id, agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX budgets_exceeded ON public.budgets USING btree (org_id) WHERE (exceeded_at IS NOT NULL);
CREATE INDEX budgets_project ON public.budgets USING btree (org_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX budgets_story ON public.budgets USING btree (org_id, project_id, story_id) WHERE (story_id IS NOT NULL);
CREATE INDEX code_changes_attachment ON public.code_changes USING btree (org_id, attachment_id) WHERE (attachment_id IS NOT NULL);
CREATE INDEX code_changes_project ON public.code_changes USING btree (org_id, project_id);
CREATE INDEX code_changes_stored ON public.code_changes USING btree (stored_at);
CREATE INDEX comments_agent_mentions ON public.comments USING btree (org_id, story_id, id) WHERE (agent_mentions <> '{}'::uuid[]);
CREATE INDEX comments_author ON public.comments USING btree (org_id, author_member_id) WHERE ((body IS NOT NULL) AND ((author ->> 'agentId'::text) IS NULL));
CREATE INDEX comments_mailed ON public.comments USING btree (org_id, author_member_id, id) WHERE (via IS NOT NULL);
CREATE INDEX comments_open ON public.comments USING btree (org_id, story_id, id) WHERE ((parent_id IS NULL) AND (resolved_at IS NULL));
CREATE INDEX comments_replies ON public.comments USING btree (org_id, parent_id, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX comments_roots ON public.comments USING btree (org_id, story_id, id) WHERE (parent_id IS NULL);
CREATE INDEX connections_by_id ON public.connections USING btree (id);
CREATE INDEX connections_of_agent ON public.connections USING btree (org_id, agent_id, id);
CREATE INDEX connections_of_member ON public.connections USING btree (org_id, member_id, id);
CREATE INDEX contract_stories_contract ON public.contract_stories USING btree (org_id, contract_id);
CREATE INDEX contract_versions_story ON public.contract_versions USING btree (org_id, story_id) WHERE (story_id IS NOT NULL);
CREATE INDEX deleted_records_files ON public.deleted_records USING btree (org_id) WHERE (kind = 'attachments'::text);
CREATE INDEX deleted_stories_age ON public.deleted_stories USING btree (deleted_at);
CREATE INDEX deleted_stories_newest ON public.deleted_stories USING btree (org_id, project_id, deleted_at, id);
CREATE INDEX deleted_stories_number ON public.deleted_stories USING btree (org_id, project_id, number);
CREATE INDEX delivery_groups_project ON public.delivery_groups USING btree (org_id, project_id, id DESC);
CREATE INDEX delivery_groups_state ON public.delivery_groups USING btree (org_id, project_id, state, id DESC);
CREATE INDEX epics_project ON public.epics USING btree (org_id, project_id, id);
CREATE INDEX epics_status ON public.epics USING btree (org_id, project_id, status, id);
CREATE INDEX executions_branch ON public.executions USING btree (org_id, project_id, branch, id) WHERE (branch IS NOT NULL);
CREATE INDEX executions_newest ON public.executions USING btree (org_id, project_id, id);
CREATE INDEX executions_opened_number ON public.executions USING btree (org_id, project_id, opened_number, id) WHERE (opened_number IS NOT NULL);
CREATE INDEX executions_opened_url ON public.executions USING btree (org_id, project_id, opened_url_hash, id) WHERE (opened_url_hash IS NOT NULL);
CREATE INDEX executions_project ON public.executions USING btree (org_id, project_id, id) WHERE (state <> 'completed'::text);
CREATE INDEX executions_state ON public.executions USING btree (org_id, project_id, state, needs_rework, id);
CREATE INDEX executions_stopped ON public.executions USING btree (org_id, target_type, target_id) WHERE (stop_requested IS NOT NULL);
CREATE INDEX executions_submitted_number ON public.executions USING btree (org_id, project_id, submitted_number, id) WHERE (submitted_number IS NOT NULL);
CREATE INDEX executions_submitted_url ON public.executions USING btree (org_id, project_id, submitted_url_hash, id) WHERE (submitted_url_hash IS NOT NULL);
CREATE INDEX executions_target ON public.executions USING btree (org_id, target_type, target_id, id DESC);
CREATE INDEX export_parts_export ON public.export_parts USING btree (org_id, export_id);
CREATE INDEX exports_finished ON public.exports USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX exports_member ON public.exports USING btree (org_id, member_id);
CREATE INDEX exports_project ON public.exports USING btree (org_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX flows_old ON sign_in.flows USING btree (expires_at);
CREATE INDEX forge_checks_old ON public.forge_checks USING btree (noted_at);
CREATE INDEX forge_connections_deleted ON public.forge_connections USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX forge_connections_id ON public.forge_connections USING btree (id);
CREATE INDEX forge_deliveries_newest ON public.forge_deliveries USING btree (org_id, connection_id, id DESC);
CREATE INDEX forge_deliveries_old ON public.forge_deliveries USING btree (received_at);
CREATE INDEX forge_deliveries_state ON public.forge_deliveries USING btree (org_id, connection_id, state, id DESC);
CREATE INDEX forge_facts_keys ON public.forge_facts USING gin (keys);
CREATE INDEX forge_facts_old ON public.forge_facts USING btree (parked_at);
CREATE INDEX forge_pulls_branch ON public.forge_pulls USING btree (org_id, repository_id, branch) WHERE (branch IS NOT NULL);
CREATE INDEX forge_pulls_head ON public.forge_pulls USING btree (org_id, repository_id, head_sha);
CREATE INDEX forge_pulls_quiet ON public.forge_pulls USING btree (heard_at) WHERE (is_open AND (number IS NOT NULL));
CREATE INDEX forge_repositories_project ON public.forge_repositories USING btree (org_id, project_id, id);
CREATE INDEX forge_statuses_old ON public.forge_statuses USING btree (changed_at);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX identities_account ON sign_in.identities USING btree (account_id);
CREATE INDEX identity_provider_domains_proven ON public.identity_provider_domains USING btree (domain) WHERE (proven_at IS NOT NULL);
CREATE INDEX import_items_made ON public.import_items USING btree (org_id, made_by, kind) WHERE (made_by IS NOT NULL);
CREATE INDEX import_items_put ON public.import_items USING btree (org_id, import_id, kind);
CREATE INDEX import_items_record ON public.import_items USING btree (org_id, record_id);
CREATE INDEX imports_project ON public.imports USING btree (org_id, project_id, id);
CREATE INDEX inbox_items_at ON public.inbox_items USING btree (at);
CREATE INDEX invitations_accounts ON public.invitations USING btree (lower(email) COLLATE "C") WHERE (state = 'pending'::text);
CREATE INDEX invitations_address ON public.invitations USING btree (org_id, lower(email), sent_at);
CREATE INDEX leases_agent ON public.leases USING btree (org_id, agent_id) WHERE ((state = 'held'::text) AND (agent_id IS NOT NULL));
CREATE INDEX leases_live ON public.leases USING btree (org_id, project_id) WHERE ((state = 'held'::text) AND (NOT expiry_noted));
CREATE INDEX leases_looked_at ON public.leases USING btree (due_at) WHERE ((state = 'held'::text) AND (NOT expiry_noted));
CREATE INDEX leases_member ON public.leases USING btree (org_id, member_id) WHERE (state = 'held'::text);
CREATE INDEX leases_project ON public.leases USING btree (org_id, project_id, unit_type, unit_id) WHERE (state = 'held'::text);
CREATE INDEX locks_execution ON public.locks USING btree (org_id, execution_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX locks_expiry ON public.locks USING btree (expires_at) WHERE (execution_id IS NULL);
CREATE INDEX locks_member ON public.locks USING btree (org_id, member_id);
CREATE INDEX locks_project ON public.locks USING btree (org_id, project_id, id);
CREATE INDEX locks_story ON public.locks USING btree (org_id, project_id, story_id) WHERE (story_id IS NOT NULL);
CREATE INDEX members_accounts ON public.members USING btree (lower(email) COLLATE "C") WHERE (status = 'active'::text);
CREATE INDEX members_by_name ON public.members USING btree (org_id, name, id) WHERE (status = 'active'::text);
CREATE INDEX members_deactivated ON public.members USING btree (org_id, lower(email)) WHERE (deactivated_at IS NOT NULL);
CREATE INDEX members_external ON public.members USING btree (org_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX members_leading ON public.members USING btree (org_id, id) WHERE ((status = 'active'::text) AND (role = ANY (ARRAY['owner'::text, 'admin'::text])));
CREATE INDEX members_names ON public.members USING btree (org_id, status, name, id);
CREATE INDEX members_of_account ON public.members USING btree (account_id) WHERE ((status = 'active'::text) AND (account_id IS NOT NULL));
CREATE INDEX members_paused_teams ON public.members USING gin (paused_team_ids) WHERE (deactivated_at IS NOT NULL);
CREATE INDEX members_role ON public.members USING btree (org_id, status, role, name, id);
CREATE INDEX notification_counts_project ON public.notification_counts USING btree (org_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX notification_digests_due ON public.notification_digests USING btree (sent_until);
CREATE INDEX notification_snoozes_member ON public.notification_snoozes USING btree (org_id, member_id, until);
CREATE INDEX notification_snoozes_until ON public.notification_snoozes USING btree (until);
CREATE INDEX notifications_ages ON public.notifications USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX notifications_comment ON public.notifications USING btree (org_id, comment_id) WHERE (comment_id IS NOT NULL);
CREATE INDEX notifications_inbox ON public.notifications USING btree (org_id, member_id, id DESC) WHERE in_inbox;
CREATE INDEX notifications_kind ON public.notifications USING btree (org_id, member_id, kind, id DESC);
CREATE INDEX notifications_over ON public.notifications USING btree (COALESCE(read_at, created_at)) WHERE ((read_at IS NOT NULL) OR (NOT in_inbox));
CREATE INDEX notifications_project ON public.notifications USING btree (org_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX notifications_sending ON public.notifications USING btree (org_id, member_id, sends_at) WHERE (sends_at IS NOT NULL);
CREATE INDEX notifications_unread ON public.notifications USING btree (org_id, member_id, id DESC) WHERE (in_inbox AND (read_at IS NULL));
CREATE INDEX oauth_records_grant ON sign_in.oauth_records USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE INDEX oauth_records_old ON sign_in.oauth_records USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX oauth_records_uid ON sign_in.oauth_records USING btree (model, uid) WHERE (uid IS NOT NULL);
CREATE INDEX oauth_records_user_code ON sign_in.oauth_records USING btree (model, user_code) WHERE (user_code IS NOT NULL);
CREATE INDEX orgs_deleted ON public.orgs USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_dead ON public.outbox USING btree (dead_at) WHERE ((dead_at IS NOT NULL) AND (done_at IS NULL));
CREATE INDEX outbox_done ON public.outbox USING btree (done_at) WHERE (done_at IS NOT NULL);
CREATE INDEX outbox_due ON public.outbox USING btree (topic, dispatch_after) WHERE ((done_at IS NULL) AND (dead_at IS NULL));
CREATE INDEX outbox_undone ON public.outbox USING btree (org_id, topic) WHERE (done_at IS NULL);
CREATE INDEX passkeys_account ON sign_in.passkeys USING btree (account_id, id);
CREATE INDEX plans_project ON public.plans USING btree (org_id, project_id, id);
CREATE INDEX point_entries_standing ON public.point_entries USING btree (org_id, subject_id, kind) WHERE (taken_back_seq IS NULL);
CREATE INDEX point_scores_board ON public.point_scores USING btree (org_id, period, starts_on, scope_id, points DESC, member_id);
CREATE INDEX project_members_member ON public.project_members USING btree (org_id, member_id);
CREATE INDEX project_teams_team ON public.project_teams USING btree (org_id, team_id);
CREATE INDEX projects_deleted ON public.projects USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX run_logs_at ON public.run_logs USING btree (at);
CREATE INDEX run_usage_last ON public.run_usage USING btree (last_reported_at);
CREATE INDEX search_documents_keys ON public.search_documents USING gin (keys) WITH (fastupdate='on', gin_pending_list_limit='1024');
CREATE INDEX search_words_slips ON public.search_words USING gin (slips);
CREATE INDEX sessions_account ON sign_in.sessions USING btree (account_id, id);
CREATE INDEX sessions_old ON sign_in.sessions USING btree (ends_at);
CREATE INDEX sign_ins_email ON sign_in.sign_ins USING btree (lower(email), created_at);
CREATE INDEX sign_ins_old ON sign_in.sign_ins USING btree (created_at);
CREATE INDEX stories_epic ON public.stories USING btree (org_id, epic_id) WHERE (epic_id IS NOT NULL);
CREATE INDEX stories_next ON public.stories USING btree (org_id, project_id, column_id, priority, rank) WHERE (completed_at IS NULL);
CREATE INDEX stories_of_org_due ON public.stories USING btree (org_id, due_date, id) WHERE (due_date IS NOT NULL);
CREATE INDEX stories_of_org_updated ON public.stories USING btree (org_id, updated_at DESC, id DESC);
CREATE INDEX stories_parent ON public.stories USING btree (org_id, parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX stories_updated ON public.stories USING btree (org_id, project_id, updated_at DESC, id DESC);
CREATE INDEX story_blockers_blocker ON public.story_blockers USING btree (org_id, blocker_id);
CREATE INDEX story_reviewers_agent ON public.story_reviewers USING btree (org_id, agent_id, id) WHERE (agent_id IS NOT NULL);
CREATE INDEX story_reviewers_decided ON public.story_reviewers USING btree (org_id, member_id, decided_at) WHERE ((member_id IS NOT NULL) AND (decided_at IS NOT NULL));
CREATE INDEX story_reviewers_member ON public.story_reviewers USING btree (org_id, member_id, id) WHERE (member_id IS NOT NULL);
CREATE INDEX story_reviewers_story ON public.story_reviewers USING btree (org_id, story_id, id);
CREATE INDEX story_selections_story ON public.story_selections USING btree (org_id, story_id, since);
CREATE INDEX story_subscriptions_member ON public.story_subscriptions USING btree (org_id, member_id);
CREATE INDEX team_members_added ON public.team_members USING btree (org_id, team_id, created_at, member_id);
CREATE INDEX team_members_member ON public.team_members USING btree (org_id, member_id);
CREATE INDEX teams_everywhere ON public.teams USING btree (lower(name) COLLATE "C", id);
CREATE INDEX teams_external ON public.teams USING btree (org_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX tokens_alive ON public.tokens USING btree (org_id, member_id, COALESCE(expires_at, 'infinity'::timestamp with time zone)) WHERE (revoked_at IS NULL);
CREATE INDEX tokens_of_agent ON public.tokens USING btree (org_id, agent_id, id) WHERE (agent_id IS NOT NULL);
CREATE INDEX tokens_of_grant ON public.tokens USING btree (org_id, grant_id) WHERE (grant_id IS NOT NULL);
CREATE INDEX tokens_of_member ON public.tokens USING btree (org_id, member_id, id);
CREATE INDEX tokens_of_parent ON public.tokens USING btree (org_id, parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX tokens_of_session ON public.tokens USING btree (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX tokens_unwarned ON public.tokens USING btree (expires_at) WHERE ((revoked_at IS NULL) AND (warned_at IS NULL));
CREATE INDEX unsent_ends ON sign_in.unsent USING btree (peer, kind, id) WHERE is_end;
CREATE INDEX usage_days_agent ON public.usage_days USING btree (org_id, agent_id, day);
CREATE INDEX usage_days_story ON public.usage_days USING btree (org_id, story_id);
CREATE INDEX views_owner ON public.views USING btree (org_id, owner_id, id);
CREATE INDEX views_project ON public.views USING btree (org_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX views_shared ON public.views USING btree (org_id, id) WHERE shared;
CREATE INDEX webhook_deliveries_done ON public.webhook_deliveries USING btree (done_at) WHERE (done_at IS NOT NULL);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (org_id, webhook_id, next_at) WHERE ((state = 'pending'::text) AND (next_at IS NOT NULL));
CREATE INDEX webhook_deliveries_newest ON public.webhook_deliveries USING btree (org_id, webhook_id, id DESC);
CREATE INDEX webhook_deliveries_pending ON public.webhook_deliveries USING btree (org_id, webhook_id, seq) WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_state ON public.webhook_deliveries USING btree (org_id, webhook_id, state, id DESC);
CREATE INDEX webhook_deliveries_time ON public.webhook_deliveries USING btree (org_id, webhook_id, event_at) WHERE (seq IS NOT NULL);
CREATE INDEX webhooks_deleted ON public.webhooks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX webhooks_due ON public.webhooks USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX webhooks_following ON public.webhooks USING btree (org_id, cursor_seq) INCLUDE (worker_until, id) WHERE ((paused_at IS NULL) AND (NOT is_full) AND (deleted_at IS NULL));
CREATE INDEX webhooks_following_audit ON public.webhooks USING btree (org_id, audit_cursor_seq) INCLUDE (worker_until, id) WHERE ((audit_cursor_seq IS NOT NULL) AND (paused_at IS NULL) AND (NOT is_full) AND (deleted_at IS NULL));
CREATE INDEX webhooks_maker ON public.webhooks USING btree (org_id, maker_id);
CREATE INDEX webhooks_project ON public.webhooks USING btree (org_id, project_id, id) WHERE (project_id IS NOT NULL);
CREATE UNIQUE INDEX access_requests_pending ON public.access_requests USING btree (org_id, project_id, member_id) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX accounts_email ON sign_in.accounts USING btree (lower(email));
CREATE UNIQUE INDEX agents_slug ON public.agents USING btree (org_id, member_id, slug);
CREATE UNIQUE INDEX budgets_target ON public.budgets USING btree (org_id, scope, project_id, agent_id, story_id, period) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX code_changes_head ON public.code_changes USING btree (org_id, execution_id, source, head_sha);
CREATE UNIQUE INDEX delivery_group_stories_open ON public.delivery_group_stories USING btree (org_id, story_id) WHERE open;
CREATE UNIQUE INDEX delivery_groups_upstream ON public.delivery_groups USING btree (org_id, project_id, ((upstream ->> 'provider'::text)), ((upstream ->> 'externalId'::text))) WHERE (upstream IS NOT NULL);
CREATE UNIQUE INDEX devices_push_token ON public.devices USING btree (org_id, md5(push_token)) WHERE (push_token IS NOT NULL);
CREATE UNIQUE INDEX devices_slack_account ON public.devices USING btree (org_id, device_id) WHERE (platform = 'slack_account'::text);
CREATE UNIQUE INDEX executions_open ON public.executions USING btree (org_id, target_type, target_id) WHERE (state <> 'completed'::text);
CREATE UNIQUE INDEX export_parts_order ON public.export_parts USING btree (org_id, export_id, "position") WHERE (size IS NOT NULL);
CREATE UNIQUE INDEX exports_live ON public.exports USING btree (org_id, scope, project_id, (
CASE scope
    WHEN 'me'::text THEN member_id
    ELSE NULL::uuid
END)) NULLS NOT DISTINCT WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE UNIQUE INDEX forge_repositories_external ON public.forge_repositories USING btree (org_id, connection_id, external_id, project_id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX forge_repositories_url ON public.forge_repositories USING btree (org_id, connection_id, url, project_id) WHERE (url IS NOT NULL);
CREATE UNIQUE INDEX identity_providers_client ON public.identity_providers USING btree (org_id, issuer, client_id);
CREATE UNIQUE INDEX invitations_pending ON public.invitations USING btree (org_id, lower(email)) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX members_account ON public.members USING btree (org_id, account_id) WHERE (status = 'active'::text);
CREATE UNIQUE INDEX members_email ON public.members USING btree (org_id, lower(email)) WHERE (status = 'active'::text);
CREATE UNIQUE INDEX members_handle ON public.members USING btree (org_id, handle);
CREATE UNIQUE INDEX members_one_owner ON public.members USING btree (org_id) WHERE ((role = 'owner'::text) AND (status = 'active'::text));
CREATE UNIQUE INDEX projects_local ON public.projects USING btree (org_id, local_project_id) WHERE (local_project_id IS NOT NULL);
CREATE UNIQUE INDEX prompts_slug ON public.prompts USING btree (org_id, project_id, slug) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX stories_board ON public.stories USING btree (org_id, project_id, column_id, rank) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX stories_upstream ON public.stories USING btree (org_id, project_id, ((upstream ->> 'provider'::text)), ((upstream ->> 'externalId'::text))) WHERE (upstream IS NOT NULL);
CREATE UNIQUE INDEX teams_name ON public.teams USING btree (org_id, lower(name));
CREATE UNIQUE INDEX webhook_deliveries_seq ON public.webhook_deliveries USING btree (org_id, webhook_id, seq) WHERE (seq IS NOT NULL);

-- Functions

CREATE OR REPLACE FUNCTION app.account_of(member uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return (select m.account_id from public.members m where m.org_id = app.org_id() and m.id = member and m.status = 'active');
end $function$
;
alter function app.account_of(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.activity_seen(orgs uuid[], members uuid[], tokens uuid[], afters bigint[], upto bigint[], projects uuid[], kinds text[])
 RETURNS TABLE(nth bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select w.nth
    from unnest(orgs, members, tokens, afters, upto, projects, kinds)
      with ordinality as w (org_id, member_id, token_id, after, upto, project_id, kinds, nth)
    where exists (
      select 1 from public.activity e
      where e.org_id = w.org_id and e.seq > w.after and e.seq <= w.upto
        and (w.project_id is null or e.project_id = w.project_id
          or (e.kind = 'policy.updated' and w.kinds is not null))
        and (w.kinds is null or e.kind = any (w.kinds::text[]))
        and (e.project_id is null
          or exists (select 1 from app.visible_projects(w.org_id, w.member_id, w.token_id) v where v.project_id = e.project_id)
          -- Owners and admins also see the remaining events of deleted projects.
          or exists (select 1 from public.members m join public.tokens t on t.org_id = m.org_id and t.id = w.token_id
            where m.org_id = w.org_id and m.id = w.member_id and m.role in ('owner', 'admin') and t.project_ids is null)));
end $function$
;
alter function app.activity_seen(uuid[],uuid[],uuid[],bigint[],bigint[],uuid[],text[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.address_of_account(member uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select a.email from sign_in.accounts a where a.id = app.account_of(member)
$function$
;
alter function app.address_of_account(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.agent_responses(org uuid, story_ids uuid[])
 RETURNS TABLE(story_id uuid, response jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if cardinality(story_ids) = 0 then return; end if;
  return query select q.id, jsonb_build_object('agent', jsonb_build_object('id', g.id, 'name', g.name), 'state', case
      when l.agent_id = g.id then 'picked_up'
      when i.listens_until is null or i.listens_until <= clock_timestamp() then 'no_runner'
      when exists (select 1 from leases b where b.org_id = org and b.agent_id = g.id and b.state = 'held'
        and b.expires_at > clock_timestamp()) then 'busy'
      else 'listening' end)
  from stories q
  join agents g on g.org_id = org and g.retired_at is null and g.id = (select coalesce((
    select a.agent_id from assignments a where a.org_id = org and a.target_type = 'story' and a.target_id = q.id), (
    select c.agent_mentions[1] from comments c
      join projects p on p.org_id = org and p.id = q.project_id
      join members m on m.org_id = org and m.id = c.author_member_id and m.status = 'active'
    where c.org_id = org and c.story_id = q.id and c.agent_mentions <> '{}' and c.author ->> 'agentId' is null
      and app.project_rank(org, p.id, p.visibility, m.id, m.role) >= 2
      and not exists (select 1 from executions x where x.org_id = org and x.target_type = 'story' and x.target_id = q.id
        and x.completed_at >= c.created_at)
    order by c.id desc limit 1)))
  left join inbox_streams i on i.org_id = org and i.recipient_id = g.id
  left join executions e on e.org_id = org and e.target_type = 'story' and e.target_id = q.id and e.state <> 'completed'
  left join leases l on l.org_id = org and l.unit_type = 'story' and l.unit_id = e.target_id and l.state = 'held'
  where q.org_id = org and q.id = any (story_ids) and q.status not in ('done', 'canceled')
    and (e.id is null or e.state = 'available' or l.agent_id = g.id);
end $function$
;
alter function app.agent_responses(uuid,uuid[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.agree_on_file_folder(own_id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into app.file_folder (id) values (own_id) on conflict do nothing;
  return (select f.id from app.file_folder f);
end $function$
;
alter function app.agree_on_file_folder(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.asked_proofs(account uuid, organization uuid)
 RETURNS TABLE(org_name text, requires_passkey boolean, provider_id uuid, provider_name text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select o.org_name, coalesce((r.policy ->> 'requirePasskey')::boolean, false), p.id, p.name
    from (select org_id, name as org_name from app.organizations_of(account)) o
    join public.orgs r on r.id = o.org_id
    left join public.identity_providers p on p.org_id = o.org_id
      and coalesce(r.policy -> 'allowedIdentityProviders', '[]') ? p.id::text
    where o.org_id = organization
    order by p.name, p.id;
end $function$
;
alter function app.asked_proofs(uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.bar_of(project uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select hashtextextended('archive ' || project::text, 0)
$function$
;
alter function app.bar_of(uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.begin_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  begun text := coalesce(current_setting('muster.epochs_begun', true), '');
begin
  if position(old.org_id::text in begun) > 0 then return null; end if;
  update rights_epochs set epoch = gen_random_uuid() where org_id = old.org_id;
  perform set_config('muster.epochs_begun', begun || ' ' || old.org_id, true);
  return null;
end $function$
;
alter function app.begin_epoch() owner to muster_door;
CREATE OR REPLACE FUNCTION app.begin_epochs_beyond(skipped integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  kept record;
begin
  for kept in
    select a.attrelid::regclass as in_table, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as text
    from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where (a.attrelid, a.attname) in (('leases'::regclass, 'epoch'), ('lock_counters'::regclass, 'fencing_token'))
  loop
    execute format('alter table %s alter column %I set default %s', kept.in_table, kept.name,
      substring(kept.text from '\d+')::bigint + skipped);
  end loop;
end $function$
;
alter function app.begin_epochs_beyond(integer) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.begin_first_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into rights_epochs (org_id) values (new.id);
  return null;
end $function$
;
alter function app.begin_first_epoch() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.begin_organization(account uuid, organization uuid, member uuid, org_name text, org_slug text, member_handle text, starting_seats integer, entry uuid, request jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own record;
begin
  perform pg_advisory_xact_lock(hashtextextended('organization of ' || account::text, 0));
  select a.email, a.name into strict own from sign_in.accounts a where a.id = account;
  if exists (select 1 from members m join orgs o on o.id = m.org_id and o.deleted_at is null
    where m.status = 'active' and m.role = 'owner'
      and (m.account_id = account or (m.account_id is null and lower(m.email) collate "C" = lower(own.email) collate "C"))) then
    return 'owner';
  end if;
  insert into orgs (id, slug, name) values (organization, org_slug, org_name) on conflict (slug) do nothing;
  if not found then return 'taken'; end if;
  insert into streams (org_id, audit) values (organization, 1);
  insert into subscriptions (org_id, plan, seats, status) values (organization, 'free', starting_seats, 'active');
  insert into members (org_id, id, email, name, handle, role, status, account_id)
    values (organization, member, own.email, own.name, member_handle, 'owner', 'active', account);
  insert into audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id)
    values (organization, 1, entry,
      jsonb_build_object('kind', 'member', 'memberId', member, 'agentId', null, 'name', own.name),
      member, 'accounts.beginOrganization', org_slug, 'allowed',
      request ->> 'ip', request ->> 'userAgent', request ->> 'requestId');
  return 'made';
end $function$
;
alter function app.begin_organization(uuid,uuid,uuid,text,text,text,integer,uuid,jsonb) owner to muster_door;
CREATE OR REPLACE FUNCTION app.cancel_runs(org uuid, member uuid, agent uuid, message text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  moment constant timestamptz := clock_timestamp();
  event constant jsonb := jsonb_build_object('kind', 'canceled', 'message', message, 'data', null,
    'at', to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
begin
  update agent_runs r set state = 'canceled', ended_at = moment, last_seen_at = moment, last_event = event
    where r.org_id = org and r.member_id = member and (agent is null or r.agent_id = agent) and r.ended_at is null;
end $function$
;
alter function app.cancel_runs(uuid,uuid,uuid,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.claim_key(org uuid, token uuid, op text, wanted text, print bytea)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into idempotency_keys as k (org_id, token_id, operation, key, fingerprint)
    values (org, token, op, wanted, print)
    on conflict (org_id, token_id, operation, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_at = now()
      where k.created_at < now() - interval '24 hours';
  if not found then
    raise exception 'idempotency key taken' using errcode = 'MU409';
  end if;
end $function$
;
alter function app.claim_key(uuid,uuid,text,text,bytea) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.claim_next(org uuid, ids uuid[], waits boolean)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  claim bigint;
begin
  for nth in 1 .. cardinality(ids) loop
    claim := hashtextextended('next ' || ids[nth]::text, 0);
    if waits then
      perform pg_advisory_xact_lock(claim);
    elsif not pg_try_advisory_xact_lock(claim) then
      continue;
    end if;
    -- These are separate statements, so that each sees what was committed during the search or the wait.
    if not exists (
        select 1 from leases l where l.org_id = org and l.unit_type = 'story' and l.unit_id = ids[nth]
          and l.state = 'held' and l.expires_at > clock_timestamp()) then
      return nth;
    end if;
  end loop;
  return 0;
end $function$
;
alter function app.claim_next(uuid,uuid[],boolean) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.claim_slug(org uuid, wanted text, has text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('slug ' || wanted, 0));
  if exists (select 1 from orgs o where o.slug = wanted and o.id <> org) then return false; end if;
  delete from app.claimed_slugs c where c.org_id = org and c.slug not in (wanted, has);
  insert into app.claimed_slugs (slug, org_id) values (wanted, org) on conflict (slug) do nothing;
  return exists (select 1 from app.claimed_slugs c where c.slug = wanted and c.org_id = org);
end $function$
;
alter function app.claim_slug(uuid,text,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.count_read()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.in_inbox and new.read_at is not null and old.read_at is null
      and coalesce(current_setting('muster.unread', true), '') <> 'by hand' then
    update notification_counts c set unread = c.unread - 1, changes = c.changes + 1
      where c.org_id = new.org_id and c.member_id = new.member_id and c.kind = new.kind
        and c.place_id = coalesce(new.project_id, new.org_id);
  end if;
  return null;
end $function$
;
alter function app.count_read() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.count_stories()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  left_epic int;
  left_done int;
  joined_epic int;
  joined_done int;
begin
  if tg_op = 'UPDATE' and old.column_id is not distinct from new.column_id and old.status = new.status
      and old.epic_id is not distinct from new.epic_id then
    return null;
  end if;
  if coalesce(current_setting('muster.counts', true), '') = 'by hand' then return null; end if;
  left_epic := (old.epic_id is not null and old.status <> 'canceled')::int;
  left_done := (old.epic_id is not null and old.status = 'done')::int;
  joined_epic := (new.epic_id is not null and new.status <> 'canceled')::int;
  joined_done := (new.epic_id is not null and new.status = 'done')::int;
  if old.column_id is distinct from new.column_id then
    update board_columns set story_count = story_count + case when id = new.column_id then 1 else -1 end
      where org_id = coalesce(new.org_id, old.org_id) and id in (old.column_id, new.column_id);
  end if;
  if (old.status = 'canceled') is distinct from (new.status = 'canceled') and
     (old.status = 'canceled' or new.status = 'canceled') then
    update project_counters
      set canceled_stories = canceled_stories + case when new.status = 'canceled' then 1 else -1 end
      where org_id = coalesce(new.org_id, old.org_id) and project_id = coalesce(new.project_id, old.project_id);
  end if;
  if old.epic_id is not distinct from new.epic_id then
    if joined_epic <> left_epic or joined_done <> left_done then
      update epics set story_count = story_count + joined_epic - left_epic, done_count = done_count + joined_done - left_done
        where org_id = new.org_id and id = new.epic_id;
    end if;
    return null;
  end if;
  if left_epic = 1 then
    update epics set story_count = story_count - 1, done_count = done_count - left_done
      where org_id = old.org_id and id = old.epic_id;
  end if;
  if joined_epic = 1 then
    update epics set story_count = story_count + 1, done_count = done_count + joined_done
      where org_id = new.org_id and id = new.epic_id;
  end if;
  return null;
end $function$
;
alter function app.count_stories() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.count_unread()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.in_inbox and new.read_at is null and coalesce(current_setting('muster.unread', true), '') <> 'by hand' then
    insert into notification_counts as c (org_id, member_id, kind, project_id, unread, changes)
      values (new.org_id, new.member_id, new.kind, new.project_id, 1, 1)
      on conflict (org_id, member_id, kind, place_id) do update set unread = c.unread + 1, changes = c.changes + 1;
  end if;
  return null;
end $function$
;
alter function app.count_unread() owner to the_migrator;
CREATE OR REPLACE PROCEDURE app.count_values(IN kept regclass, IN field name, IN values_there_are integer)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
declare
  part regclass;
begin
  execute format('alter table %s alter column %I set (n_distinct = %s, n_distinct_inherited = %s)',
    kept, field, values_there_are, values_there_are);
  for part in select i.inhrelid::regclass from pg_inherits i where i.inhparent = kept loop
    execute format('alter table %s alter column %I set (n_distinct = %s)', part, field, values_there_are);
  end loop;
  -- Until it is analyzed again the planner goes by what was found before.
  execute format('analyze %s (%I)', kept, field);
end $procedure$
;
alter function app.count_values(regclass,name,integer) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.default_usage_prices()
 RETURNS TABLE(model text, currency text, valid_from date, input_micros bigint, output_micros bigint, cached_micros bigint)
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  values
    ('claude-opus-4', 'USD', date '2025-05-22', 15000000::bigint, 75000000::bigint, 1500000::bigint),
    ('claude-opus-4-5', 'USD', date '2025-11-24', 5000000, 25000000, 500000),
    ('claude-opus-4-6', 'USD', date '2026-02-05', 5000000, 25000000, 500000),
    ('claude-sonnet-4', 'USD', date '2025-05-22', 3000000, 15000000, 300000),
    ('claude-haiku-4-5', 'USD', date '2025-10-15', 1000000, 5000000, 100000),
    ('gpt-5', 'USD', date '2025-08-07', 1250000, 10000000, 125000),
    ('gpt-5-mini', 'USD', date '2025-08-07', 250000, 2000000, 25000),
    ('gpt-5-nano', 'USD', date '2025-08-07', 50000, 400000, 5000),
    ('gemini-2.5-pro', 'USD', date '2025-06-17', 1250000, 10000000, 125000),
    ('gemini-2.5-flash', 'USD', date '2025-06-17', 300000, 2500000, 30000),
    ('gemini-2.5-flash-lite', 'USD', date '2025-07-22', 100000, 400000, 10000)
$function$
;
alter function app.default_usage_prices() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.delete_passkey(member uuid, passkey uuid)
 RETURNS TABLE(name text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select k.* from app.delete_passkey_of_account(app.account_of(member), passkey) k
$function$
;
alter function app.delete_passkey(uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.delete_passkey_of_account(account uuid, passkey uuid)
 RETURNS TABLE(name text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  delete from sign_in.passkeys p where p.id = passkey and p.account_id = account returning p.name
$function$
;
alter function app.delete_passkey_of_account(uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.door_of(org uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select hashtextextended('leaves ' || org::text, 0)
$function$
;
alter function app.door_of(uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.drop_documents()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  delete from search_documents d where d.org_id = old.org_id and d.id = old.id and d.kind = any (tg_argv);
  return null;
end $function$
;
alter function app.drop_documents() owner to muster_door;
CREATE OR REPLACE FUNCTION app.end_child_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update tokens t set revoked_at = new.revoked_at, expires_at = least(t.expires_at, new.expires_at)
    where t.org_id = new.org_id and t.parent_id = new.id and t.revoked_at is null
      and (new.revoked_at is not null or coalesce(t.expires_at, 'infinity') > new.expires_at);
  return null;
end $function$
;
alter function app.end_child_tokens() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.end_connection(connection uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update public.connections set revoked_at = now() where id = connection and revoked_at is null;
end $function$
;
alter function app.end_connection(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.end_connection_token(token_hash bytea)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update public.tokens set revoked_at = now() where hash = token_hash and kind = 'oauth' and revoked_at is null;
end $function$
;
alter function app.end_connection_token(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.end_connection_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update tokens set revoked_at = now() where org_id = new.org_id and grant_id = new.id::text and revoked_at is null;
  return null;
end $function$
;
alter function app.end_connection_tokens() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.end_runs()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform app.cancel_runs(new.org_id, new.id, null, 'The member was removed.');
  return null;
end $function$
;
alter function app.end_runs() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.end_session_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update tokens t set revoked_at = now()
    from (select k.org_id, k.id from tokens k where k.session_id = new.id and k.revoked_at is null
      order by k.org_id for no key update) ending
    where t.org_id = ending.org_id and t.id = ending.id;
  return null;
end $function$
;
alter function app.end_session_tokens() owner to muster_door;
CREATE OR REPLACE FUNCTION app.end_sessions(member uuid, own_token uuid, session uuid)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  ended int;
begin
  if session is not null
    and not exists (select 1 from sign_in.sessions s where s.id = session and s.account_id = app.account_of(member)) then
    return null;
  end if;
  update sign_in.sessions s set revoked_at = now()
    from (select k.id from sign_in.sessions k
      where k.account_id = app.account_of(member) and k.revoked_at is null and k.expires_at > now()
        and case when session is not null then k.id = session
          else not exists (select 1 from tokens t where t.org_id = app.org_id() and t.id = own_token and t.session_id = k.id) end
      order by k.id for no key update) ending
    where s.id = ending.id;
  get diagnostics ended = row_count;
  return ended;
end $function$
;
alter function app.end_sessions(uuid,uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.end_unproven_sessions()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update public.tokens t set revoked_at = now()
  from public.members m, public.orgs o, sign_in.sessions s
  where t.org_id = app.org_id() and t.kind = 'session' and t.revoked_at is null
    and m.org_id = t.org_id and m.id = t.member_id and o.id = t.org_id and s.id = t.session_id
    and app.lacks_proof(o.policy, m.role, s.proofs);
end $function$
;
alter function app.end_unproven_sessions() owner to muster_door;
CREATE OR REPLACE FUNCTION app.enter(token_hash bytea, needs_org integer, target_kind text, target_ref text, needs_project integer, known_reach text, known_org uuid, known_epoch uuid, known_expiry timestamp with time zone, known_projects uuid[], OUT at timestamp with time zone, OUT target_id uuid, OUT project_id uuid, OUT project_rank integer, OUT org_role text, OUT epoch uuid, OUT expires_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  org uuid;
  member uuid;
  bound uuid[];
  reach text;
  sees text;
  target record;
  done text;
begin
  at := now();
  if known_epoch is not null and (known_expiry is null or known_expiry > at)
    and exists (select 1 from rights_epochs e where e.org_id = known_org and e.epoch = known_epoch) then
    done := set_config('muster.org_id', known_org::text, true);
    if target_kind is null then return; end if;
    target := app.find_target(known_org, target_kind, target_ref);
    if target.project_id = any (known_projects) then
      target_id := target.target_id;
      project_id := target.project_id;
      done := set_config('muster.target_id', target_id::text, true);
      done := set_config('muster.project_id', project_id::text, true);
      return;
    end if;
  end if;

  select t.org_id, t.member_id, t.project_ids, t.expires_at, m.role, e.epoch,
      app.token_reach(t.scopes, t.project_ids, t.agent_id, t.may_read_inbox)
    into org, member, bound, expires_at, org_role, epoch, reach
    from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    left join rights_epochs e on e.org_id = t.org_id
    where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
  if not found then
    raise exception 'no such token' using errcode = 'MU401';
  end if;
  if epoch is null then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  if reach <> known_reach then
    raise exception 'the token reaches another part now' using errcode = 'MU409';
  end if;
  done := set_config('muster.org_id', org::text, true);
  if array_position(array['viewer', 'member', 'admin', 'owner'], org_role) < needs_org then
    raise exception 'role in the organization is too low'
      using errcode = 'MU403', detail = format('organization %s %s', needs_org, org_role);
  end if;
  if target_kind is null then return; end if;

  -- Operators of the installation: the target is not a record. app.require_platform checks their access
  -- again.
  if target_kind = 'platform' then
    if not exists (select 1 from tokens t where t.hash = token_hash and 'platform' = any (t.scopes)) then
      raise exception 'not for this token' using errcode = 'MU403',
        detail = (select array_to_string(t.scopes, ' ') from tokens t where t.hash = token_hash);
    end if;
    done := set_config('muster.platform_pass', encode(token_hash, 'hex'), true);
    return;
  end if;
  target := app.find_target(org, target_kind, target_ref);
  target_id := target.target_id;
  project_id := target.project_id;
  -- A project that does not exist or is not visible. Deleted projects have no row.
  select p.visibility into sees from projects p
    where p.org_id = org and p.id = project_id and (bound is null or p.id = any (bound));
  if found then
    project_rank := app.given_rank(sees, org_role);
    -- Teams and direct membership are read only if they can make a difference.
    if project_rank is null or project_rank < needs_project then
      project_rank := app.project_rank(org, project_id, sees, member, org_role);
    end if;
  end if;
  if project_rank is null then
    raise exception 'nothing there to be seen' using errcode = 'MU404';
  end if;
  if project_rank < needs_project then
    raise exception 'role in the project is too low' using errcode = 'MU403',
      detail = format('project %s %s', needs_project, (array['viewer', 'contributor', 'lead'])[project_rank]);
  end if;
  done := set_config('muster.target_id', target_id::text, true);
  done := set_config('muster.project_id', project_id::text, true);
end $function$
;
alter function app.enter(bytea,integer,text,text,integer,text,uuid,uuid,timestamp with time zone,uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.enter_as_system(org uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (select 1 from rights_epochs e where e.org_id = org) then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  perform set_config('muster.org_id', org::text, true);
end $function$
;
alter function app.enter_as_system(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.enter_by_account(session_hash bytea, organization uuid, invitation uuid, OUT at timestamp with time zone, OUT org_id uuid, OUT name text)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  address text;
begin
  select now(), a.name, a.email into at, name, address
    from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id
    where s.hash = session_hash and s.revoked_at is null and s.expires_at > now();
  if not found then
    raise exception 'no such session' using errcode = 'MU401';
  end if;
  select i.org_id into org_id
    from invitations i
    join orgs o on o.id = i.org_id and o.deleted_at is null
    where i.org_id = organization and i.id = invitation
      and lower(i.email) collate "C" = lower(address) collate "C";
  if not found then
    raise exception 'no such invitation' using errcode = 'MU404';
  end if;
  perform app.enter_as_system(org_id);
end $function$
;
alter function app.enter_by_account(bytea,uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.enter_by_invitation(secret_hash bytea, OUT at timestamp with time zone, OUT org_id uuid)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  select now(), i.org_id into at, org_id
    from invitations i
    join orgs o on o.id = i.org_id and o.deleted_at is null
    where i.token_hash = secret_hash;
  if not found then
    raise exception 'no such invitation' using errcode = 'MU404';
  end if;
  perform app.enter_as_system(org_id);
end $function$
;
alter function app.enter_by_invitation(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.enter_standby(at_least pg_lsn, known_org uuid, known_epoch uuid, target_kind text, target_ref text, known_projects uuid[], OUT at timestamp with time zone, OUT target_id uuid, OUT project_id uuid, OUT moves bigint, OUT stands_at pg_lsn)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  target record;
  done text;
begin
  at := now();
  -- A promoted server no longer follows the primary.
  stands_at := case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end;
  if stands_at is null or stands_at < at_least then
    raise exception 'the standby has not come so far' using errcode = 'MU425';
  end if;
  select s.activity + s.audit into moves
    from rights_epochs e join streams s on s.org_id = e.org_id
    where e.org_id = known_org and e.epoch = known_epoch;
  if not found then
    raise exception 'the standby is in another epoch of rights' using errcode = 'MU428';
  end if;
  done := set_config('muster.org_id', known_org::text, true);
  if target_kind is null then return; end if;
  target := app.find_target(known_org, target_kind, target_ref);
  if (target.project_id = any (known_projects)) is not true then
    raise exception 'the rights in this project are not known' using errcode = 'MU428';
  end if;
  target_id := target.target_id;
  project_id := target.project_id;
  done := set_config('muster.target_id', target_id::text, true);
  done := set_config('muster.project_id', project_id::text, true);
end $function$
;
alter function app.enter_standby(pg_lsn,uuid,uuid,text,text,uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.estimated_rows(counted regclass)
 RETURNS bigint
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select greatest(c.reltuples, 0)::bigint from pg_class c where c.oid = counted
$function$
;
alter function app.estimated_rows(regclass) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.excerpt(written text, typed text, slips text[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  searched constant text := left(written, 20000);
  folded text;
  at int;
begin
  if length(searched) <= 500 then return searched; end if;
  folded := app.fold(searched);
  at := regexp_instr(folded, '\m(?:' || array_to_string(app.words(typed) || slips, '|') || ')');
  if at = 0 then at := strpos(folded, app.fold(btrim(typed))); end if;
  return substr(searched, greatest(at - 100, 1), 500);
end $function$
;
alter function app.excerpt(text,text,text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.export_salt()
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select k.salt from app.export_key k;
$function$
;
alter function app.export_salt() owner to muster_door;
CREATE OR REPLACE FUNCTION app.find(member uuid, token uuid, project uuid, kinds text[], typed text, most integer)
 RETURNS TABLE(nth integer, id uuid, kind text, grade integer, slips text[])
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  org constant uuid := app.org_id();
  mark constant text := app.search_mark(org);
  words constant text[] := (app.words(typed))[:12];
  visible constant uuid[] := array(
    select v.project_id from app.visible_projects(org, member, token) v
    join projects p on p.org_id = org and p.id = v.project_id
    where v.project_id = project or project is null and p.archived_at is null);
  begins_key constant boolean := btrim(typed) ~* '^[a-z][a-z0-9]{1,9}-([1-9][0-9]{0,8})?$';
  with_members constant boolean := project is null and 'member' = any (kinds);
  near jsonb;
  queries tsquery[];
  anything tsquery;
  meant text[];
  ids uuid[] := '{}';
  found_kinds text[] := '{}';
  grades int[] := '{}';
  more record;
  -- The oldest record that was read, though perhaps not its spec; null if all were read.
  walked_to uuid;
  step int;
begin
  if 'story' = any (kinds) and typed ~ '^\s*([A-Za-z][A-Za-z0-9]{1,9}-|#)?[0-9]{1,9}\s*$' then
    select array_agg(s.id) as ids, array_agg(s.grade) as grades into more from (
      select s.id, case when typed ~ '-' then -1 else 0 end as grade
      from unnest(visible) as v (project_id)
      join projects p on p.org_id = org and p.id = v.project_id and (typed !~ '-' or p.key = upper(split_part(btrim(typed), '-', 1)))
      join stories s on s.org_id = org and s.project_id = p.id and s.number = substring(typed from '[0-9]+\s*$')::int
      order by s.id desc limit most) s;
    ids := coalesce(more.ids, '{}');
    grades := coalesce(more.grades, '{}');
  end if;
  if 'story' = any (kinds) and begins_key then
    ids := ids || array(select app.stories_whose_key_begins(org, visible, btrim(typed), most));
    grades := grades || array_fill(2, array[cardinality(ids) - cardinality(grades)]);
  end if;
  found_kinds := array_fill('story'::text, array[cardinality(ids)]);
  if words <> '{}' then
    select case when count(*) = 500 then (array_agg(d.id order by d.id))[1] end into walked_to
      from (select d.id from search_documents d where d.org_id = org order by d.id desc limit 500) d;
    queries := app.search_queries(mark, btrim(typed), words, null);
    for step in 0..9 loop
      exit when cardinality(ids) >= most and (select count(*) from unnest(grades) as g where g <= step) >= most;
      if step = 8 then
        exit when exists (select 1 from unnest(grades) as g where g <= 6);
        near := (select jsonb_agg(to_jsonb(app.words_near(org, w.word)) order by w.at) from unnest(words) with ordinality as w (word, at));
        exit when not jsonb_path_exists(near, '$[*][*]');
        queries := array_fill(null::tsquery, array[7]) || (app.search_queries(mark, btrim(typed), words, near))[8:];
      end if;
      -- Grades all documents that are read in one statement.
      if step in (0, 8) then
        -- A document that matches any other query also matches one of these.
        anything := case when step = 8 then queries[9] else queries[2] || queries[6] || coalesce(queries[7], queries[6]) end;
        select array_agg(f.id) as ids, array_agg(f.kind) as kinds, array_agg(f.grade) as grades into more from (
          select d.id, d.kind, app.search_grade(d.keys, queries) as grade
          from (select * from search_documents d where d.org_id = org order by d.id desc limit 500) d
          where d.keys @@ anything and d.kind = any (kinds)
            and (d.project_id = any (visible) or d.project_id is null and with_members)) f
        where f.grade is not null;
        ids := ids || coalesce(more.ids, '{}');
        found_kinds := found_kinds || coalesce(more.kinds, '{}');
        grades := grades || coalesce(more.grades, '{}');
      end if;
      -- The letters of a key occur in every key of its project.
      continue when step = 0 or walked_to is null or queries[step] is null or step = 7 and begins_key
        or (select count(*) from unnest(grades) as g where g <= step) >= most;
      select array_agg(f.id) as ids, array_agg(f.kind) as kinds into more from (
        select d.id, d.kind
        from (select * from search_documents d where d.keys @@ queries[step] offset 0) d
        where d.org_id = org and d.id <= walked_to and d.kind = any (kinds)
          and (d.project_id = any (visible) or d.project_id is null and with_members)
          and app.search_grade(d.keys, queries) = step
        limit 1000) f;
      ids := ids || coalesce(more.ids, '{}');
      found_kinds := found_kinds || coalesce(more.kinds, '{}');
      grades := grades || array_fill(step, array[cardinality(coalesce(more.ids, '{}'))]);
    end loop;
  end if;
  meant := array(select jsonb_path_query(near, '$[*][*]') #>> '{}');
  return query
    select (row_number() over (order by f.grade, f.id desc, f.kind))::int, f.id, f.kind, f.grade, meant
    from (select distinct on (u.id, u.kind) u.* from unnest(ids, found_kinds, grades) as u (id, kind, grade) order by u.id, u.kind, u.grade) f
    order by 1 limit most;
end $function$
;
alter function app.find(uuid,uuid,uuid,text[],text,integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.find_connection_token(token_hash bytea)
 RETURNS TABLE(connection_id text, client_id text, expires_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select t.grant_id, t.client_id, t.expires_at from public.tokens t
    where t.hash = token_hash and t.kind = 'oauth' and t.revoked_at is null and t.expires_at > now();
end $function$
;
alter function app.find_connection_token(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.find_forge_connection(connection uuid)
 RETURNS TABLE(org_id uuid, kind text, secret bytea, organization_key bytea)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select c.org_id, c.kind, c.secret, s.cursor_key
    from public.forge_connections c
    join public.orgs o on o.id = c.org_id and o.deleted_at is null
    join public.streams s on s.org_id = c.org_id
    where c.id = connection and c.deleted_at is null;
end $function$
;
alter function app.find_forge_connection(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.find_identity_provider(provider uuid)
 RETURNS TABLE(id uuid, org_id uuid, name text, issuer text, client_id text, secret bytea, organization_key bytea, trusts_addresses boolean, domains text[])
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select p.id, p.org_id, p.name, p.issuer, p.client_id, p.secret, s.cursor_key, p.trusts_addresses, proven.domains
    from public.identity_providers p
    join public.orgs o on o.id = p.org_id and o.deleted_at is null
    join public.streams s on s.org_id = p.org_id
    cross join lateral (select array_agg(d.domain order by d.domain) as domains from public.identity_provider_domains d
      where d.org_id = p.org_id and d.provider_id = p.id and d.proven_at is not null) proven
    where p.id = provider and proven.domains is not null;
end $function$
;
alter function app.find_identity_provider(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.find_target(org uuid, target_kind text, target_ref text, OUT target_id uuid, OUT project_id uuid)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  case target_kind
    when 'project' then
      target_id := target_ref::uuid;
      project_id := target_id;
    when 'projectKey' then
      select p.id, p.id into target_id, project_id from public.projects p
        where p.org_id = org and p.key = upper(target_ref);
    when 'story' then
      select s.id, s.project_id into target_id, project_id from public.stories s
        where s.org_id = org and s.id = target_ref::uuid;
    when 'storyKey' then
      select s.id, s.project_id into target_id, project_id
        from public.projects p join public.stories s on s.org_id = p.org_id and s.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and s.number = split_part(target_ref, '-', 2)::int;
    -- A deleted story is kept for 30 days (deleted-stories.sql).
    when 'deletedStory' then
      select d.id, d.project_id into target_id, project_id from public.deleted_stories d
        where d.org_id = org and d.id = target_ref::uuid and d.deleted_at > now() - interval '30 days';
    when 'deletedStoryKey' then
      select d.id, d.project_id into target_id, project_id
        from public.projects p join public.deleted_stories d on d.org_id = p.org_id and d.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and d.number = split_part(target_ref, '-', 2)::int and d.deleted_at > now() - interval '30 days'
        order by d.deleted_at desc limit 1;
    when 'column' then
      select c.id, c.project_id into target_id, project_id from public.board_columns c
        where c.org_id = org and c.id = target_ref::uuid;
    when 'epic' then
      select e.id, e.project_id into target_id, project_id from public.epics e
        where e.org_id = org and e.id = target_ref::uuid;
    when 'comment' then
      select c.id, s.project_id into target_id, project_id
        from public.comments c join public.stories s on s.org_id = c.org_id and s.id = c.story_id
        where c.org_id = org and c.id = target_ref::uuid;
    when 'accessRequest' then
      select r.id, r.project_id into target_id, project_id from public.access_requests r
        where r.org_id = org and r.id = target_ref::uuid;
    when 'deliveryGroup' then
      select g.id, g.project_id into target_id, project_id from public.delivery_groups g
        where g.org_id = org and g.id = target_ref::uuid;
    when 'import' then
      select i.id, i.project_id into target_id, project_id from public.imports i
        where i.org_id = org and i.id = target_ref::uuid;
    when 'plan' then
      select l.id, l.project_id into target_id, project_id from public.plans l
        where l.org_id = org and l.id = target_ref::uuid;
    when 'attachment' then
      select a.id, a.project_id into target_id, project_id from public.attachments a
        where a.org_id = org and a.id = target_ref::uuid;
    when 'execution' then
      select e.id, e.project_id into target_id, project_id from public.executions e
        where e.org_id = org and e.id = target_ref::uuid;
    when 'lock' then
      select l.id, l.project_id into target_id, project_id from public.locks l
        where l.org_id = org and l.id = target_ref::uuid;
  end case;
end $function$
;
alter function app.find_target(uuid,text,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.fold(said text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  folded text := casefold(said collate pg_unicode_fast);
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  return normalize(regexp_replace(normalize(folded, NFKD), '[\u0300-\u036f]+', '', 'g'), NFKC);
end $function$
;
alter function app.fold(text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.forget_place(org uuid, at_node text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  delete from app.org_places p where p.org_id = org and p.node = at_node and p.moving_to is null;
end $function$
;
alter function app.forget_place(uuid,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.free_name(org uuid, wanted text, longest integer)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  candidate text := wanted;
  number int := 1;
begin
  perform pg_advisory_xact_lock(hashtextextended('names ' || org::text, 0));
  -- These statements see what was committed during the wait for the lock.
  while exists (select 1 from members m where m.org_id = org and m.handle = candidate)
      or exists (select 1 from agents a where a.org_id = org and a.slug = candidate) loop
    number := number + 1;
    candidate := rtrim(left(wanted, longest - 1 - length(number::text)), '-') || '-' || number;
  end loop;
  return candidate;
end $function$
;
alter function app.free_name(uuid,text,integer) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.free_work(org uuid, member uuid, agent uuid, why text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  with freed as (
    update leases l set state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
      run_id = null, expires_at = null
    where l.org_id = org and l.member_id = member and (agent is null or l.agent_id = agent) and l.state = 'held'
    returning l.unit_type, l.unit_id),
  chosen as materialized (
    select e.id from executions e
    where e.org_id = org and (
      (e.state in ('leased', 'waiting_input')
        and e.target_id = any (array(select f.unit_id from freed f where f.unit_type <> 'coordination')))
      or (e.state = 'offered' and ((agent is null and (e.offer ->> 'toMemberId')::uuid = member)
        or (e.offer ->> 'toAgentId')::uuid in (select g.id from agents g
          where g.org_id = org and g.member_id = member and (agent is null or g.id = agent)))))
    order by e.id for no key update),
  given_up as (
    update executions e set state = 'available', waiting_for = null, offer = null, updated_at = now(),
      version = e.version + 1, last_event_seq = e.last_event_seq + 1
    from chosen c where e.org_id = org and e.id = c.id
    returning e.id, e.last_event_seq),
  unlocked as (
    delete from locks k using given_up u where k.org_id = org and k.execution_id = u.id)
  insert into execution_events (org_id, execution_id, seq, kind, actor, data)
    select org, u.id, u.last_event_seq, 'released',
      '{"kind": "system", "memberId": null, "agentId": null, "name": "system"}', jsonb_build_object('reason', why)
    from given_up u;
  delete from locks k where k.org_id = org and k.member_id = member and (agent is null or k.agent_id = agent);
end $function$
;
alter function app.free_work(uuid,uuid,uuid,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.give_connection_token(connection uuid, new_token uuid, new_hash bytea, new_prefix text, new_last_four text, wanted text[], seconds integer)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own connections;
  ends timestamptz;
begin
  -- Locked until COMMIT. A call that ends the connection waits and then ends this token, too.
  select c.* into own from connections c where c.id = connection and c.revoked_at is null and c.expires_at > now() for share;
  if not found or not wanted <@ own.scopes or cardinality(wanted) = 0
    or not exists (select 1 from orgs o where o.id = own.org_id and o.deleted_at is null) then
    return null;
  end if;
  ends := least(now() + make_interval(secs => seconds), own.expires_at);
  update tokens t set hash = new_hash, prefix = new_prefix, last_four = new_last_four, scopes = wanted, expires_at = ends
    where t.org_id = own.org_id and t.id = (
      select k.id from tokens k
      where k.org_id = own.org_id and k.grant_id = own.id::text and k.revoked_at is null and k.expires_at < now()
      limit 1 for no key update skip locked);
  if not found then
    insert into tokens (org_id, id, member_id, agent_id, name, kind, hash, prefix, last_four, scopes, project_ids, may_read_inbox,
        expires_at, client_id, grant_id, resource)
      values (own.org_id, new_token, own.member_id, own.agent_id, own.client_name, 'oauth', new_hash, new_prefix, new_last_four, wanted,
        own.project_ids, false, ends, own.client_id, own.id::text, own.resource);
  end if;
  return ends;
end $function$
;
alter function app.give_connection_token(uuid,uuid,bytea,text,text,text[],integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.given_rank(visibility text, member_role text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when member_role in ('owner', 'admin') then 3
    when visibility = 'org' then case member_role when 'member' then 2 when 'viewer' then 1 end
  end
$function$
;
alter function app.given_rank(text,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.go_beyond_loss(org uuid, skipped_epochs integer, skipped_numbers bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update executions e set epoch = e.epoch + skipped_epochs from leases l
    where e.org_id = org and l.org_id = org and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held' and l.epoch = e.epoch;
  update executions e set last_event_seq = e.last_event_seq + skipped_epochs
    where e.org_id = org and e.state <> 'completed';
  update leases l set epoch = l.epoch + skipped_epochs where l.org_id = org;
  update inbox_streams i set last_seq = i.last_seq + skipped_epochs where i.org_id = org;
  update lock_counters c set fencing_token = c.fencing_token + skipped_epochs where c.org_id = org;
  update streams s set lost_after = s.activity, lost_until = s.activity + skipped_numbers,
      activity = s.activity + skipped_numbers, audit_lost_after = s.audit, audit = s.audit + skipped_numbers
    where s.org_id = org;
end $function$
;
alter function app.go_beyond_loss(uuid,integer,bigint) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.grams(said text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array(select 'g' || substr(small, at, 3) from lower(said collate pg_c_utf8) as small, generate_series(1, length(small) - 2) as at)
$function$
;
alter function app.grams(text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.guard_leaving_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  org uuid := tg_argv[0]::uuid;
begin
  if current_setting('role') = 'muster_worker' and tg_op <> 'INSERT' then
    if not pg_try_advisory_xact_lock_shared(app.door_of(org))
        or exists (select 1 from app.closed_orgs c where c.org_id = org) then
      return null;
    end if;
    return case tg_op when 'DELETE' then old else new end;
  end if;
  perform pg_advisory_xact_lock_shared(app.door_of(org));
  if exists (select 1 from app.closed_orgs c where c.org_id = org) then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $function$
;
alter function app.guard_leaving_row() owner to muster_door;
CREATE OR REPLACE PROCEDURE app.guard_table(IN guarded regclass, IN rights text DEFAULT 'select, insert, update, delete'::text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
begin
  execute format('alter table %s enable row level security, force row level security', guarded);
  execute format('create policy own_organization on %s to muster_app using (org_id = app.org_id())', guarded);
  execute format('grant %s on %s to muster_app', rights, guarded);
  call app.let_worker_remove(guarded);
end $procedure$
;
alter function app.guard_table(regclass,text) owner to the_migrator;
CREATE OR REPLACE PROCEDURE app.hand_over(IN handed regprocedure, IN new_owner regrole)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
begin
  execute format('grant create on schema app to %s', new_owner);
  execute format('alter function %s owner to %s', handed, new_owner);
  execute format('revoke create on schema app from %s', new_owner);
  execute format('revoke all on function %s from public', handed);
end $procedure$
;
alter function app.hand_over(regprocedure,regrole) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.held_rank(project_role text, member_role text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when member_role = 'viewer' then 1
    else array_position(array['viewer', 'contributor', 'lead'], project_role) end
$function$
;
alter function app.held_rank(text,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.hold_open()
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock_shared(app.bar_of(app.project_id()));
  -- This is a separate statement, so that it sees what was committed during the wait.
  return (select p.archived_at is not null from projects p where p.org_id = app.org_id() and p.id = app.project_id());
end $function$
;
alter function app.hold_open() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.identify(token_hash bytea)
 RETURNS TABLE(token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], project_ids uuid[], may_read_inbox boolean, member_name text, agent_name text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select t.id, t.org_id, t.member_id, t.agent_id, t.scopes, t.project_ids, t.agent_id is null or t.may_read_inbox,
    m.name, a.name
  from public.tokens t
  join public.members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
  join public.orgs o on o.id = t.org_id and o.deleted_at is null
  left join public.agents a on a.org_id = t.org_id and a.id = t.agent_id
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$function$
;
alter function app.identify(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.identify_session(session_hash bytea, organization uuid, wanted_hash bytea, new_token uuid)
 RETURNS TABLE(token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], project_ids uuid[], may_read_inbox boolean, member_name text, agent_name text, session_id uuid, proven_at timestamp with time zone)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  own record;
  member uuid;
begin
  select s.id, s.account_id, s.expires_at, s.proven_at, s.proofs into own from sign_in.sessions s
    where s.hash = session_hash and s.revoked_at is null and s.expires_at > now();
  if not found or not exists (select 1 from orgs o where o.id = organization and o.deleted_at is null) then return; end if;
  member := app.own_membership(own.account_id, organization);
  if member is null or exists (select 1 from tokens t join members m on m.org_id = t.org_id and m.id = t.member_id
      where t.hash = wanted_hash and m.org_id = organization and m.id = member and t.revoked_at <= m.activated_at) then
    return;
  end if;
  if exists (select 1 from members m join orgs o on o.id = m.org_id
      where m.org_id = organization and m.id = member and app.lacks_proof(o.policy, m.role, own.proofs)) then
    raise exception 'a proof is missing' using errcode = 'MU403', detail = 'session';
  end if;
  if not exists (select 1 from tokens t
      where t.hash = wanted_hash and t.member_id = member and t.revoked_at is null and t.expires_at > now()) then
    -- The token of an ended membership stays for the trail and gives up its hash. It is not revoked if it was
    -- created while the membership ended.
    update tokens t set hash = sha256(uuid_send(gen_random_uuid()))
      where t.hash = wanted_hash and (t.member_id <> member or t.revoked_at is not null);
    insert into tokens as t (org_id, id, member_id, name, kind, hash, last_four, scopes, expires_at, session_id)
      values (organization, new_token, member, 'session', 'session', wanted_hash, '', '{admin}', own.expires_at, own.id)
      on conflict (hash) do update set expires_at = excluded.expires_at where t.revoked_at is null;
  end if;
  return query select i.*, own.id, own.proven_at from app.identify(wanted_hash) i;
end $function$
;
alter function app.identify_session(bytea,uuid,bytea,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.identity_providers_of(wanted text)
 RETURNS TABLE(id uuid, name text, org_id uuid, org_name text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select p.id, p.name, o.id, o.name
    from public.identity_provider_domains d
    join public.identity_providers p on p.org_id = d.org_id and p.id = d.provider_id
    join public.orgs o on o.id = p.org_id and o.deleted_at is null
    where d.domain = lower(wanted) collate "C" and d.proven_at is not null
    order by o.name, p.name, p.id limit 20;
end $function$
;
alter function app.identity_providers_of(text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.inbox_positions(orgs uuid[], members uuid[])
 RETURNS TABLE(nth bigint, place text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select w.nth, concat(
      (select sum(c.changes) from public.notification_counts c where c.org_id = w.org_id and c.member_id = w.member_id), ' ',
      (select e.epoch from public.rights_epochs e where e.org_id = w.org_id))
    from unnest(orgs, members) with ordinality as w (org_id, member_id, nth);
end $function$
;
alter function app.inbox_positions(uuid[],uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.invitations_of(account uuid)
 RETURNS TABLE(org_id uuid, id uuid, org_name text, role text, invited_by text, expires_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select i.org_id, i.id, o.name, i.role, i.invited_by ->> 'name', i.expires_at
    from sign_in.accounts a
    join public.invitations i on lower(i.email) collate "C" = lower(a.email) collate "C"
      and i.state = 'pending' and i.expires_at > now()
    join public.orgs o on o.id = i.org_id and o.deleted_at is null
    where a.id = account
    order by i.id desc limit 50;
end $function$
;
alter function app.invitations_of(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.is_connected(connection uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return exists (select 1 from public.connections c join public.orgs o on o.id = c.org_id and o.deleted_at is null
    where c.id = connection and c.revoked_at is null and c.expires_at > now());
end $function$
;
alter function app.is_connected(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.is_counted(counted regclass)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select pg_relation_size(counted) <= 32 * 1024 * 1024
$function$
;
alter function app.is_counted(regclass) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.keep_blocked_by()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  is_gone constant boolean := tg_op = 'DELETE'
    and not exists (select 1 from stories b where b.org_id = old.org_id and b.id = old.blocker_id);
begin
  update stories s
    set blocked_by = array(
        select b.blocker_id from story_blockers b where b.org_id = s.org_id and b.story_id = s.id order by b.blocker_id),
      version = s.version + is_gone::int,
      updated_at = case when is_gone then now() else s.updated_at end
    where s.org_id = coalesce(new.org_id, old.org_id) and s.id = coalesce(new.story_id, old.story_id);
  return null;
end $function$
;
alter function app.keep_blocked_by() owner to muster_door;
CREATE OR REPLACE PROCEDURE app.keep_by_month(IN kept regclass)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
begin
  execute format('create table months.%I partition of %s default', kept || '_else', kept);
  execute format('alter table months.%I enable row level security', kept || '_else');
end $procedure$
;
alter function app.keep_by_month(regclass) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.keep_comment_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  words constant text[] := app.words(new.body);
begin
  if new.body is null then
    delete from search_documents d where d.org_id = new.org_id and d.id = new.id and d.kind = 'comment';
    return null;
  end if;
  perform app.put_document(new.org_id, new.id, 'comment',
    (select s.project_id from stories s where s.org_id = new.org_id and s.id = new.story_id),
    app.text_keys(new.org_id, words), words);
  return null;
end $function$
;
alter function app.keep_comment_document() owner to muster_door;
CREATE OR REPLACE FUNCTION app.keep_deleted_story(story uuid, deleter jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  org constant uuid := app.org_id();
begin
  insert into deleted_stories (org_id, id, project_id, number, title, deleted_by)
    select s.org_id, s.id, s.project_id, s.number, s.title, deleter from stories s where s.org_id = org and s.id = story;
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, story, row_number() over (order by k.step, k.place), k.kind, k.record from (
      select 1 as step, 0 as place, 'stories' as kind, to_jsonb(t) as record from stories t
        where t.org_id = org and t.id = story
      union all select 2, t.version, 'story_specs', to_jsonb(t) from story_specs t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'comments', to_jsonb(t) from comments t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'comment_reactions', to_jsonb(t) from comment_reactions t
        where t.org_id = org and t.comment_id in (select c.id from comments c where c.org_id = org and c.story_id = story)
      union all select 2, 0, 'attachments', to_jsonb(t) from attachments t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'assignments', to_jsonb(t) from assignments t
        where t.org_id = org and t.target_type = 'story' and t.target_id = story
      union all select 2, 0, 'story_reviewers', to_jsonb(t) from story_reviewers t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_selections', to_jsonb(t) from story_selections t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_subscriptions', to_jsonb(t) from story_subscriptions t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_blockers', to_jsonb(t) from story_blockers t
        where t.org_id = org and (t.story_id = story or t.blocker_id = story)
      union all select 2, 0, 'budgets', to_jsonb(t) from budgets t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'contract_stories', to_jsonb(t) from contract_stories t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'delivery_group_stories', to_jsonb(t) from delivery_group_stories t
        where t.org_id = org and t.story_id = story and not t.open
      union all select 2, 0, 'executions', to_jsonb(t) from executions t
        where t.org_id = org and t.target_type = 'story' and t.target_id = story
      union all select 2, 0, k.kind, k.record from executions e cross join lateral (
          select 'execution_events' as kind, to_jsonb(t) as record from execution_events t
            where t.org_id = org and t.execution_id = e.id
          union all select 'execution_contributors', to_jsonb(t) from execution_contributors t
            where t.org_id = org and t.execution_id = e.id
          union all select 'forge_observations', to_jsonb(t) from forge_observations t
            where t.org_id = org and t.execution_id = e.id
          union all select 'forge_pulls', to_jsonb(t) from forge_pulls t where t.org_id = org and t.execution_id = e.id
          union all select 'code_changes', to_jsonb(t) from code_changes t where t.org_id = org and t.execution_id = e.id
          union all select 'code_change_files', to_jsonb(t) from code_changes c
            join code_change_files t on t.org_id = org and t.changes_id = c.id
            where c.org_id = org and c.execution_id = e.id) k
        where e.org_id = org and e.target_type = 'story' and e.target_id = story
      -- References that the deletion clears, in rows that stay.
      union all select 2, 0, 'children', jsonb_build_object('id', t.id) from stories t
        where t.org_id = org and t.parent_id = story
      union all select 2, 0, 'agent_runs', jsonb_build_object('id', t.id, 'execution_id', t.execution_id) from agent_runs t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'contract_versions', jsonb_build_object('contract_id', t.contract_id, 'version', t.version)
        from contract_versions t where t.org_id = org and t.story_id = story) k;
end $function$
;
alter function app.keep_deleted_story(uuid,jsonb) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.keep_epic_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  title_words constant text[] := app.words(new.title);
  words constant text[] := app.words(new.description);
begin
  perform app.put_document(new.org_id, new.id, 'epic', new.project_id,
    app.title_keys(new.org_id, new.title, title_words, '') || app.text_keys(new.org_id, words), title_words || words);
  return null;
end $function$
;
alter function app.keep_epic_document() owner to muster_door;
CREATE OR REPLACE FUNCTION app.keep_look()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.due_at := case when old.state = 'held' then least(new.due_at, new.expires_at) else coalesce(new.expires_at, new.due_at) end;
  return new;
end $function$
;
alter function app.keep_look() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.keep_member_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  name_words constant text[] := app.words(new.name);
begin
  if new.status <> 'active' then
    delete from search_documents d where d.org_id = new.org_id and d.id = new.id and d.kind = 'member';
    return null;
  end if;
  perform app.put_document(new.org_id, new.id, 'member', null,
    app.member_keys(new.org_id, new.name, name_words, new.handle, new.email), name_words || app.words(new.email));
  return null;
end $function$
;
alter function app.keep_member_document() owner to muster_door;
CREATE OR REPLACE FUNCTION app.keep_months(audit_days integer)
 RETURNS TABLE(month text, done text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
AS $function$
declare
  kept regclass;
  begins timestamptz;
  held regclass;
begin
  -- Concurrent calls would create the same partition.
  perform pg_advisory_xact_lock(4105);
  for kept in select p.partrelid::regclass from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
    where c.relnamespace = 'public'::regnamespace order by 1 loop
    for begins in select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '2 months', interval '1 month') loop
      continue when not app.make_month(kept, begins);
      month := kept || to_char(begins, '_YYYY_MM');
      done := 'made';
      return next;
    end loop;
  end loop;
  for held, month in
    select m.held, c.relname from app.months() m join pg_class c on c.oid = m.held
    where m.kept = 'audit'::regclass and audit_days > 0 and m.ends < now() - make_interval(days => audit_days) order by m.ends loop
    execute format('drop table %s', held);
    done := 'dropped';
    return next;
  end loop;
end $function$
;
alter function app.keep_months(integer) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.keep_spec_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  words constant text[] := app.words(new.content);
begin
  perform app.put_document(new.org_id, new.story_id, 'spec',
    (select s.project_id from stories s where s.org_id = new.org_id and s.id = new.story_id),
    app.text_keys(new.org_id, words), words);
  return null;
end $function$
;
alter function app.keep_spec_document() owner to muster_door;
CREATE OR REPLACE FUNCTION app.keep_story_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  key constant text := (select p.key || '-' || new.number from projects p where p.org_id = new.org_id and p.id = new.project_id);
  title_words constant text[] := app.words(new.title);
  -- Only the beginning of a long text is indexed, so the labels, which filters look up, come first.
  words constant text[] := app.words(concat_ws(' ', array_to_string(new.labels, ' '), new.description));
begin
  -- Deleted projects are invisible to authorization checks, so their records are no longer found.
  if key is null then return null; end if;
  perform app.put_document(new.org_id, new.id, 'story', new.project_id,
    app.story_keys(new.org_id, new.project_id, key, new.labels, new.title, title_words, words), title_words || words);
  return null;
end $function$
;
alter function app.keep_story_document() owner to muster_door;
CREATE OR REPLACE FUNCTION app.known_address(address text, OUT member_name text, OUT is_invited boolean)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  member_name := (select m.name from public.members m join public.orgs o on o.id = m.org_id and o.deleted_at is null
      where m.status = 'active' and lower(m.email) collate "C" = lower(address) collate "C" order by m.created_at limit 1);
  is_invited := exists (select 1 from public.invitations i join public.orgs o on o.id = i.org_id and o.deleted_at is null
      where i.state = 'pending' and i.expires_at > now() and lower(i.email) collate "C" = lower(address) collate "C");
end $function$
;
alter function app.known_address(text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.lacks_proof(rules jsonb, role text, proofs text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select role <> 'owner' and (
    (coalesce((rules ->> 'requirePasskey')::boolean, false) and not 'passkey' = any (proofs))
    or (jsonb_array_length(coalesce(rules -> 'allowedIdentityProviders', '[]')) > 0
      and not exists (select 1 from jsonb_array_elements_text(rules -> 'allowedIdentityProviders') allowed
        where 'provider:' || allowed = any (proofs))))
$function$
;
alter function app.lacks_proof(jsonb,text,text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.let_go_of_epic()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  counts constant text := coalesce(current_setting('muster.counts', true), '');
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  perform set_config('muster.counts', 'by hand', true);
  update stories s set epic_id = null, version = s.version + 1, updated_at = now()
    where s.org_id = old.org_id and s.epic_id = old.id;
  perform set_config('muster.counts', counts, true);
  return old;
end $function$
;
alter function app.let_go_of_epic() owner to muster_door;
CREATE OR REPLACE FUNCTION app.let_go_of_execution()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  update agent_runs r set execution_id = null where r.org_id = old.org_id and r.execution_id = old.id;
  return old;
end $function$
;
alter function app.let_go_of_execution() owner to muster_door;
CREATE OR REPLACE FUNCTION app.let_go_of_story()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  update locks l set story_id = null where l.org_id = old.org_id and l.project_id = old.project_id and l.story_id = old.id;
  update agent_runs r set story_id = null where r.org_id = old.org_id and r.story_id = old.id;
  update contract_versions v set story_id = null where v.org_id = old.org_id and v.story_id = old.id;
  return old;
end $function$
;
alter function app.let_go_of_story() owner to muster_door;
CREATE OR REPLACE PROCEDURE app.let_worker_remove(IN removed regclass)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
begin
  execute format('create policy worker on %s to muster_worker using (true)', removed);
  execute format('grant delete, select (%s) on %s to muster_worker', (
    select string_agg(distinct quote_ident(a.attname), ', ')
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.conrelid = removed and c.contype in ('p', 'f')), removed);
end $procedure$
;
alter function app.let_worker_remove(regclass) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.make_month(kept regclass, begins timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
declare
  month text := kept || to_char(begins, '_YYYY_MM');
  ends timestamptz := begins + interval '1 month';
  has_strays boolean;
  field name;
  option text;
begin
  if to_regclass(format('months.%I', month)) is not null then return false; end if;
  execute format('select exists (select 1 from months.%I where at >= $1 and at < $2)', kept || '_else')
    into has_strays using begins, ends;
  if has_strays then return false; end if;
  -- The partition is created separately and attached, so that readers and writers of other months continue.
  execute format('create table months.%I (like %s including all)', month, kept);
  execute format('alter table months.%I enable row level security', month);
  -- The statistics options of columns (migration 0015) are not copied with the table.
  for field, option in
    select a.attname, o.option_value from pg_attribute a, pg_options_to_table(a.attoptions) o
    where a.attrelid = kept and o.option_name = 'n_distinct' loop
    execute format('alter table months.%I alter column %I set (n_distinct = %s)', month, field, option);
  end loop;
  execute format('alter table %s attach partition months.%I for values from (%L) to (%L)', kept, month, begins, ends);
  return true;
end $function$
;
alter function app.make_month(regclass,timestamp with time zone) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.marked(mark text, words text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return case when words = '{}' then words else string_to_array(mark || array_to_string(words, ' ' || mark), ' ') end;
end $function$
;
alter function app.marked(text,text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.may_claim(membership members)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return membership.account_id is null or exists (select 1 from sign_in.accounts o
    where o.id = membership.account_id and lower(o.email) <> lower(membership.email));
end $function$
;
alter function app.may_claim(members) owner to muster_door;
CREATE OR REPLACE FUNCTION app.member_keys(org uuid, name text, name_words text[], handle text, email text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return app.title_keys(org, name, name_words, handle) || app.marked(app.search_mark(org) || 't', app.words(handle))
    || app.text_keys(org, app.words(email));
end $function$
;
alter function app.member_keys(uuid,text,text[],text,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.months()
 RETURNS TABLE(kept regclass, held regclass, ends timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
  select i.inhparent::regclass, c.oid::regclass,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''(.+)''\)')::timestamptz
  from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'months'::regnamespace and c.relkind = 'r'
$function$
;
alter function app.months() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.moves_while_rights_hold(orgs uuid[], epochs uuid[], expiries timestamp with time zone[])
 RETURNS TABLE(nth bigint, moves bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  -- A lookup per organization. With a join, a plan cached while there were few organizations would read all
  -- of them.
  return query select w.nth, (
      select s.activity + s.audit from streams s
      where s.org_id = w.org_id and (w.expires_at is null or w.expires_at > now())
        and exists (select 1 from rights_epochs e where e.org_id = w.org_id and e.epoch = w.epoch))
    from unnest(orgs, epochs, expiries) with ordinality as w (org_id, epoch, expires_at, nth);
end $function$
;
alter function app.moves_while_rights_hold(uuid[],uuid[],timestamp with time zone[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.name_agent()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  plain text := lower(regexp_replace(normalize(new.name, NFD), '[\u0300-\u036f]', '', 'g'));
begin
  if not exists (select 1 from agents a where a.org_id = new.org_id and a.member_id = new.member_id and a.slug = new.slug) then
    new.slug := app.free_name(new.org_id, coalesce(new.slug,
      nullif(trim(both '-' from left(trim(both '-' from regexp_replace(plain, '[^a-z0-9]+', '-', 'g')), 30)), ''), 'agent'), 40);
  end if;
  return new;
end $function$
;
alter function app.name_agent() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.new_id(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from moment) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$function$
;
alter function app.new_id(timestamp with time zone) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.nodes_closed()
 RETURNS SETOF text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return query select c.node from app.closed_nodes c;
end $function$
;
alter function app.nodes_closed() owner to muster_door;
CREATE OR REPLACE FUNCTION app.note_connection(connection uuid, entry uuid, request jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  with made as (select c.org_id, c.id, c.member_id, m.name, jsonb_build_object(
      'client', jsonb_build_object('name', c.client_name, 'host', c.client_host),
      'agent', jsonb_build_object('id', a.id, 'name', a.name),
      'projectIds', c.project_ids, 'scopes', c.scopes, 'expiresAt', to_char(c.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as details
    from public.connections c
    join public.members m on m.org_id = c.org_id and m.id = c.member_id
    join public.agents a on a.org_id = c.org_id and a.id = c.agent_id where c.id = connection),
  numbered as (update public.streams s set audit = s.audit + 1 from made where s.org_id = made.org_id returning s.audit)
  insert into public.audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id, details)
    select made.org_id, numbered.audit, entry,
      jsonb_build_object('kind', 'member', 'memberId', made.member_id, 'agentId', null, 'name', made.name),
      made.member_id, 'connections.consent', made.id::text, 'allowed',
      request ->> 'ip', request ->> 'userAgent', request ->> 'requestId', made.details
    from made, numbered;
end $function$
;
alter function app.note_connection(uuid,uuid,jsonb) owner to muster_door;
CREATE OR REPLACE FUNCTION app.note_listeners(orgs uuid[], recipients uuid[], seconds integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into public.inbox_streams (org_id, recipient_id, last_seq, listens_until)
  select a.org_id, a.id, 0, now() + make_interval(secs => seconds)
  from unnest(orgs, recipients) as w (org_id, id)
  join public.agents a on a.org_id = w.org_id and a.id = w.id and a.retired_at is null
  group by a.org_id, a.id order by a.org_id, a.id
  on conflict (org_id, recipient_id) do update set listens_until = excluded.listens_until;
end $function$
;
alter function app.note_listeners(uuid[],uuid[],integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.note_unsent()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sign_in.unsent as u (peer, kind, id, is_end)
    select p.name, tg_table_name, case tg_op when 'DELETE' then old.id else new.id end,
      tg_op = 'DELETE' or to_jsonb(new) ->> 'revoked_at' is not null
    from sign_in.peers p where p.name is distinct from current_setting('muster.from_peer', true)
    on conflict (peer, kind, id) do update set version = excluded.version, is_end = excluded.is_end;
  if found then perform set_config('muster.has_unsent', 'yes', true); end if;
  return null;
end $function$
;
alter function app.note_unsent() owner to muster_door;
CREATE OR REPLACE FUNCTION app.open_connection(account uuid, organization uuid, connection uuid, agent uuid, client text, name text, host text, for_resource text, wanted text[], projects uuid[], days integer)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own uuid := app.own_membership(account, organization);
  held text;
begin
  select m.role into held from members m join orgs o on o.id = m.org_id and o.deleted_at is null
    where m.org_id = organization and m.id = own and m.status = 'active' for no key update of m;
  if not found then return 'member'; end if;
  if not exists (select 1 from agents a
      where a.org_id = organization and a.id = agent and a.member_id = own and a.retired_at is null) then
    return 'agent';
  end if;
  if 'admin' = any (wanted) and held not in ('owner', 'admin') then return 'role'; end if;
  if exists (select 1 from unnest(projects) named (id) where not exists (
      select 1 from projects p where p.org_id = organization and p.id = named.id
        and app.project_rank(p.org_id, p.id, p.visibility, own, held) is not null)) then
    return 'projects';
  end if;
  if (select count(*) >= 100 from (select 1 from connections c where c.org_id = organization and c.member_id = own
      and c.revoked_at is null and c.expires_at > now() limit 100) alive) then
    return 'limit';
  end if;
  insert into connections (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids, expires_at)
    values (organization, connection, own, agent, client, name, host, for_resource, wanted, projects, now() + make_interval(days => days));
  return null;
end $function$
;
alter function app.open_connection(uuid,uuid,uuid,uuid,text,text,text,text,text[],uuid[],integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.open_executions()
 RETURNS TABLE(state text, executions bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select app.shown_state(e.state, l.expires_at, (e.offer ->> 'expiresAt')::timestamptz, now()) as shown, count(*)
    from public.executions e
    join public.projects p on p.org_id = e.org_id and p.id = e.project_id and p.deleted_at is null
    left join public.leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held'
    where e.state <> 'completed'
    group by shown;
end $function$
;
alter function app.open_executions() owner to muster_door;
CREATE OR REPLACE PROCEDURE app.open_table(IN opened regclass, IN opened_to regrole, IN rights text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $procedure$
begin
  if not exists (select 1 from pg_policy p where p.polrelid = opened and p.polname = replace(opened_to::text, 'muster_', '')) then
    execute format('create policy %I on %s to %s using (true)', replace(opened_to::text, 'muster_', ''), opened, opened_to);
  end if;
  execute format('grant %s on %s to %s', rights, opened, opened_to);
end $procedure$
;
alter function app.open_table(regclass,regrole,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.org_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('muster.org_id'::text, true), ''::text))::uuid
;
alter function app.org_id() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.organization_of(connection uuid, token_hash bytea)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return coalesce(
    (select c.org_id from connections c where c.id = connection),
    (select t.org_id from tokens t where t.hash = token_hash));
end $function$
;
alter function app.organization_of(uuid,bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.organization_positions(orgs uuid[])
 RETURNS TABLE(org_id uuid, activity bigint, moves bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select s.org_id, s.activity, s.activity + s.audit from public.streams s where s.org_id = any (orgs);
end $function$
;
alter function app.organization_positions(uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.organizations_of(account uuid)
 RETURNS TABLE(org_id uuid, slug text, name text, member_id uuid, role text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select o.id, o.slug, o.name, m.id, m.role
    from sign_in.accounts a
    join public.members m on m.status = 'active'
      and (m.account_id = a.id or (lower(m.email) collate "C" = lower(a.email) collate "C" and app.may_claim(m)))
    join public.orgs o on o.id = m.org_id and o.deleted_at is null
    where a.id = account
    order by o.name, o.id;
end $function$
;
alter function app.organizations_of(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.organizations_of_session(session uuid)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select t.org_id from public.tokens t where t.session_id = session and t.revoked_at is null;
end $function$
;
alter function app.organizations_of_session(uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.own_membership(account uuid, organization uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own uuid;
  earlier_account uuid;
begin
  select m.id into own from members m
    where m.org_id = organization and m.status = 'active' and m.account_id = account;
  if found then return own; end if;
  select m.id, m.account_id into own, earlier_account from members m
    join sign_in.accounts a on a.id = account and lower(m.email) = lower(a.email)
    where m.org_id = organization and m.status = 'active' and app.may_claim(m)
    for no key update of m;
  if found then
    update members m set account_id = account where m.org_id = organization and m.id = own;
    if earlier_account <> account then
      update connections set revoked_at = now()
        where org_id = organization and member_id = own and revoked_at is null;
      update tokens set revoked_at = now()
        where org_id = organization and member_id = own and revoked_at is null;
    end if;
    return own;
  end if;
  -- A concurrent call of the same person may have been faster.
  select m.id into own from members m
    where m.org_id = organization and m.status = 'active' and m.account_id = account;
  return own;
end $function$
;
alter function app.own_membership(uuid,uuid) owner to muster_door;
CREATE OR REPLACE FUNCTION app.passkeys_of(member uuid, after_id uuid, most integer)
 RETURNS TABLE(id uuid, name text, is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select k.* from app.passkeys_of_account(app.account_of(member), after_id, most) k
$function$
;
alter function app.passkeys_of(uuid,uuid,integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.passkeys_of_account(account uuid, after_id uuid, most integer)
 RETURNS TABLE(id uuid, name text, is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select p.id, p.name, p.is_synced, p.created_at, p.last_used_at
  from sign_in.passkeys p
  where p.account_id = account and (after_id is null or p.id > after_id)
  order by p.id limit most
$function$
;
alter function app.passkeys_of_account(uuid,uuid,integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.period_start(period text, moment timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select case period
    when 'day' then (moment at time zone 'UTC')::date
    when 'month' then date_trunc('month', moment at time zone 'UTC')::date
    else date '2000-01-01' end
$function$
;
alter function app.period_start(text,timestamp with time zone) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.place_count()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  new.place_id := coalesce(new.project_id, new.org_id);
  return new;
end $function$
;
alter function app.place_count() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.places_of(orgs uuid[])
 RETURNS TABLE(org_id uuid, node text, is_moving boolean)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return query select p.org_id, p.node, p.moving_to is not null or p.left_from is not null from app.org_places p where p.org_id = any (orgs);
end $function$
;
alter function app.places_of(uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.platform_accounts(after_address text, pattern text, most integer, wanted integer)
 RETURNS TABLE(nth bigint, fits boolean, address text, email text, name text, memberships jsonb)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.address, a.email, a.name, a.memberships
    from (select w.address, row_number() over (order by w.address) as nth from (
        select lower(m.email) collate "C" as address from members m
        where m.status = 'active' and lower(m.email) collate "C" > coalesce(after_address, '')
        group by 1 order by 1 limit most) w) l
    cross join lateral (
      select (array_agg(m.email order by m.created_at desc))[1] as email,
        (array_agg(m.name order by m.created_at desc))[1] as name,
        jsonb_agg(jsonb_build_object('orgId', o.id, 'orgSlug', o.slug, 'memberId', m.id, 'role', m.role) order by o.slug)
          as memberships
      from members m join orgs o on o.id = m.org_id
      where m.status = 'active' and lower(m.email) collate "C" = l.address) a
    cross join lateral (select pattern is null or l.address ilike pattern or a.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $function$
;
alter function app.platform_accounts(text,text,integer,integer) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.platform_executions()
 RETURNS TABLE(states jsonb, estimated boolean)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform app.require_platform();
  return query
    with open as materialized (select o.state, o.executions from app.open_executions() o),
    every as (select case when app.is_counted('executions')
        then (select count(*) from executions) else app.estimated_rows('executions') end as executions)
    select jsonb_object_agg(s.state, s.executions), not app.is_counted('executions')
    from (select o.state, o.executions from open o
      union all
      select 'completed', greatest(every.executions - coalesce((select sum(o.executions) from open o), 0), 0) from every) s;
end $function$
;
alter function app.platform_executions() owner to muster_platform;
CREATE OR REPLACE FUNCTION app.platform_metrics()
 RETURNS TABLE(at timestamp with time zone, orgs bigint, accounts bigint, projects bigint, stories bigint, estimated text[], plans jsonb, queues jsonb, outbox_lag_seconds bigint, operations_last_24h bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    -- A dispatched row stays with a worker until it is due to be dispatched again.
    with pending as (
      select b.topic, min(b.dispatch_after) as due_since, count(*) filter (where b.dispatch_after <= now()) as waiting,
        count(*) filter (where b.dispatch_after > now() and b.attempts > 0) as active,
        count(*) filter (where b.dispatch_after > now() and b.attempts = 0) as delayed, 0 as failed
      from outbox b where b.done_at is null and b.dead_at is null group by 1
      union all
      select b.topic, null, 0, 0, 0, count(*) from outbox b where b.dead_at is not null and b.done_at is null group by 1)
    select now(),
      (select count(*) from orgs o where o.deleted_at is null),
      case when app.is_counted('members')
        then (select count(distinct lower(m.email)) from members m where m.status = 'active')
        else app.estimated_rows('members') end,
      case when app.is_counted('projects') then (select count(*) from projects) else app.estimated_rows('projects') end,
      case when app.is_counted('stories')
        then (select count(*) from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id)
        else app.estimated_rows('stories') end,
      array(select case big.name when 'members' then 'accounts' else big.name end
        from unnest(array['members', 'projects', 'stories']) big (name) where not app.is_counted(big.name::regclass)),
      (select coalesce(jsonb_object_agg(s.plan, s.count), '{}') from (
        select s.plan, count(*) from subscriptions s join orgs o on o.id = s.org_id and o.deleted_at is null group by 1) s),
      (select coalesce(jsonb_object_agg(q.topic, jsonb_build_object(
          'waiting', q.waiting, 'active', q.active, 'delayed', q.delayed, 'failed', q.failed)), '{}')
        from (select p.topic, sum(p.waiting) as waiting, sum(p.active) as active, sum(p.delayed) as delayed,
            sum(p.failed) as failed from pending p group by 1) q),
      (select coalesce(floor(extract(epoch from greatest(now() - min(p.due_since), interval '0'))), 0)::bigint from pending p),
      -- Computed from the numbers of the entries, which have no gaps. An organization with a million entries
      -- takes no longer than one with ten.
      (select coalesce(sum(s.audit - e.seq + 1
          - case when e.seq <= s.audit_lost_after then s.lost_until - s.lost_after else 0 end), 0)::bigint
        from streams s cross join lateral (
          select a.seq from audit a where a.org_id = s.org_id and a.at > now() - interval '24 hours' order by a.at limit 1) e);
end $function$
;
alter function app.platform_metrics() owner to muster_platform;
CREATE OR REPLACE FUNCTION app.platform_orgs(after_slug text, pattern text, most integer, wanted integer)
 RETURNS TABLE(nth bigint, fits boolean, id uuid, slug text, name text, plan text, status text, seats integer, owner_email text, owner_name text, created_at timestamp with time zone, deleted_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.id, l.slug, l.name, s.plan, s.status, s.seats, m.email, m.name, l.created_at, l.deleted_at
    from (select w.*, row_number() over (order by w.slug) as nth from (
        select o.id, o.slug, o.name, o.created_at, o.deleted_at from orgs o
        where o.slug > coalesce(after_slug, '') order by o.slug limit most) w) l
    join subscriptions s on s.org_id = l.id
    left join members m on m.org_id = l.id and m.role = 'owner' and m.status = 'active'
    cross join lateral (select pattern is null or l.slug ilike pattern or l.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $function$
;
alter function app.platform_orgs(text,text,integer,integer) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.platform_subscriptions(after_slug text, pattern text, most integer, wanted integer)
 RETURNS TABLE(nth bigint, fits boolean, slug text, org_id uuid, org_name text, plan text, status text, seats integer, current_period_end timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone, version integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.slug, l.id, l.name, s.plan, s.status, s.seats, s.current_period_end, s.created_at, s.updated_at, s.version
    from (select w.*, row_number() over (order by w.slug) as nth from (
        select o.id, o.slug, o.name from orgs o
        where o.slug > coalesce(after_slug, '') order by o.slug limit most) w) l
    join subscriptions s on s.org_id = l.id
    cross join lateral (select pattern is null or l.slug ilike pattern or l.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $function$
;
alter function app.platform_subscriptions(text,text,integer,integer) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.platform_teams(after_name text, after_id uuid, pattern text, most integer, wanted integer)
 RETURNS TABLE(nth bigint, fits boolean, sort_name text, id uuid, name text, description text, members bigint, created_at timestamp with time zone, team_org_id uuid, org_slug text, org_name text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.sort_name, l.id, l.name, l.description,
      (select count(*) from team_members tm where tm.org_id = l.org_id and tm.team_id = l.id), l.created_at,
      o.id, o.slug, o.name
    from (select w.*, row_number() over (order by w.sort_name, w.id) as nth from (
        select lower(t.name) collate "C" as sort_name, t.org_id, t.id, t.name, t.description, t.created_at from teams t
        where (lower(t.name) collate "C", t.id)
          > (coalesce(after_name, ''), coalesce(after_id, '00000000-0000-0000-0000-000000000000'))
        order by 1, t.id limit most) w) l
    join orgs o on o.id = l.org_id
    cross join lateral (
      select pattern is null or l.name ilike pattern or o.slug ilike pattern or o.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $function$
;
alter function app.platform_teams(text,uuid,text,integer,integer) owner to muster_platform;
CREATE OR REPLACE FUNCTION app.postpone_file_deletions(attachment_ids uuid[], until timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  keys constant text[] := array(select app.org_id() || '/' || a.id from unnest(attachment_ids) a (id));
begin
  if until is null then
    delete from app.file_deletions f where f.key = any (keys);
  else
    update app.file_deletions f set due_at = until where f.key = any (keys);
  end if;
end $function$
;
alter function app.postpone_file_deletions(uuid[],timestamp with time zone) owner to muster_door;
CREATE OR REPLACE FUNCTION app.project_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select nullif(current_setting('muster.project_id', true), '')::uuid
$function$
;
alter function app.project_id() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.project_rank(org uuid, project uuid, visibility text, member uuid, member_role text)
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select greatest(
    app.given_rank(visibility, member_role),
    (select app.held_rank(pm.role, member_role) from public.project_members pm
      where pm.org_id = org and pm.project_id = project and pm.member_id = member),
    (select max(app.held_rank(pt.role, member_role)) from public.project_teams pt
      join public.team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
      where pt.org_id = org and pt.project_id = project and tm.member_id = member))
$function$
;
alter function app.project_rank(uuid,uuid,text,uuid,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.project_stays(org uuid, project uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return exists (select 1 from projects p where p.org_id = org and p.id = project);
end $function$
;
alter function app.project_stays(uuid,uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.put_document(org uuid, record uuid, record_kind text, project uuid, found_by text[], words text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  added text[];
begin
  insert into search_documents as d (org_id, id, kind, project_id, keys)
    values (org, record, record_kind, project, array_to_tsvector(found_by))
    on conflict (org_id, id, kind) do update set keys = excluded.keys where d.keys <> excluded.keys;
  added := array(
    select u.word from unnest(words) as u (word) where length(u.word) between 4 and 24 and u.word !~ '[0-9]'
    except select w.word from search_words w where w.org_id = org and w.word = any (words) limit 300);
  if added <> '{}' then
    insert into search_words (org_id, word, slips) select org, a.word, app.slips(org, a.word) from unnest(added) as a (word);
  end if;
end $function$
;
alter function app.put_document(uuid,uuid,text,uuid,text[],text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.refuse_claimed_slug()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('slug ' || new.slug, 0));
  if exists (select 1 from app.claimed_slugs c where c.slug = new.slug and c.org_id <> new.id) then
    raise exception 'the slug is taken' using errcode = '23505', constraint = 'orgs_slug_key', table = 'orgs', schema = 'public';
  end if;
  return new;
end $function$
;
alter function app.refuse_claimed_slug() owner to muster_door;
CREATE OR REPLACE FUNCTION app.release_agent()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update connections set revoked_at = now() where org_id = new.org_id and agent_id = new.id and revoked_at is null;
  update tokens set revoked_at = now() where org_id = new.org_id and agent_id = new.id and revoked_at is null;
  perform app.release_assignments(new.org_id, null, array[new.id]);
  perform app.free_work(new.org_id, new.member_id, new.id, 'agent retired');
  perform app.cancel_runs(new.org_id, new.member_id, new.id, 'The agent was retired.');
  return null;
end $function$
;
alter function app.release_agent() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.release_assignments(org uuid, member uuid, own_agents uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  -- Locked in one order for concurrent removals: a member and an agent may share an assignment, and the other
  -- one stays assigned.
  perform from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
    order by a.target_type, a.target_id for update;
  delete from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
      and (a.member_id is null or a.member_id = member) and (a.agent_id is null or a.agent_id = any (own_agents));
  update assignments a
    set member_id = nullif(a.member_id, member),
      agent_id = case when a.agent_id = any (own_agents) then null else a.agent_id end,
      updated_at = now()
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents));
  delete from story_reviewers r
    where r.org_id = org and (r.member_id = member or r.agent_id = any (own_agents)) and r.verdict = 'pending';
end $function$
;
alter function app.release_assignments(uuid,uuid,uuid[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.release_member(org uuid, member uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own_agents uuid[] := array(select g.id from agents g where g.org_id = org and g.member_id = member);
begin
  update connections set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  -- Tokens of agents are tokens of their member.
  update tokens set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  perform app.release_assignments(org, member, own_agents);
  -- Agents of a removed member are retired, too.
  update agents set retired_at = now() where org_id = org and member_id = member and retired_at is null;
  delete from team_members where org_id = org and member_id = member;
  delete from project_members where org_id = org and member_id = member;
  -- Only pending requests are deleted; decided ones stay.
  delete from access_requests where org_id = org and member_id = member and state = 'pending';
  -- Invitations by a removed member are revoked, so that they admit neither another person nor the member
  -- under another address.
  update invitations i set state = 'revoked', updated_at = now(), version = i.version + 1
    where i.org_id = org and i.state = 'pending' and (i.invited_by ->> 'memberId')::uuid = member;
  delete from story_selections where org_id = org and member_id = member;
  delete from devices where org_id = org and member_id = member;
end $function$
;
alter function app.release_member(uuid,uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.release_work()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform app.free_work(new.org_id, new.id, null, 'member removed');
  return null;
end $function$
;
alter function app.release_work() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.rename_passkey(member uuid, passkey uuid, new_name text)
 RETURNS TABLE(id uuid, name text, is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select k.* from app.rename_passkey_of_account(app.account_of(member), passkey, new_name) k
$function$
;
alter function app.rename_passkey(uuid,uuid,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.rename_passkey_of_account(account uuid, passkey uuid, new_name text)
 RETURNS TABLE(id uuid, name text, is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  update sign_in.passkeys p set name = new_name
  where p.id = passkey and p.account_id = account
  returning p.id, p.name, p.is_synced, p.created_at, p.last_used_at
$function$
;
alter function app.rename_passkey_of_account(uuid,uuid,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.renew_session_tokens(session uuid, organizations uuid[], hashes bytea[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update public.tokens t set hash = renewed.hash
  from unnest(organizations, hashes) renewed (org_id, hash)
  where t.session_id = session and t.org_id = renewed.org_id and t.revoked_at is null;
end $function$
;
alter function app.renew_session_tokens(uuid,uuid[],bytea[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.request_file_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into app.file_deletions (key, due_at)
    values (old.org_id || '/' || old.id,
      case old.state when 'pending' then greatest(now(), old.created_at + interval '2 hours') else now() end)
    on conflict do nothing;
  return null;
end $function$
;
alter function app.request_file_deletion() owner to muster_door;
CREATE OR REPLACE FUNCTION app.request_part_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into app.file_deletions (key, due_at)
    values (old.org_id || '/' || old.id, case when old.size is null then now() + interval '1 hour' else now() end)
    on conflict do nothing;
  return null;
end $function$
;
alter function app.request_part_deletion() owner to muster_door;
CREATE OR REPLACE FUNCTION app.require_platform()
 RETURNS void
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select 1 from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    where t.hash = decode(current_setting('muster.platform_pass', true), 'hex') and 'platform' = any (t.scopes)
      and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))
    and not exists (
    select 1 from app.platform_passes p
    where p.hash = decode(current_setting('muster.platform_pass', true), 'hex') and p.expires_at > now()) then
    raise exception 'not for this token' using errcode = 'MU403';
  end if;
end $function$
;
alter function app.require_platform() owner to muster_platform;
CREATE OR REPLACE FUNCTION app.reserve_place(org uuid, at_node text, wanted text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into app.org_places (org_id, node) values (org, at_node);
  if app.claim_slug(org, wanted, wanted) then return true; end if;
  delete from app.org_places p where p.org_id = org;
  return false;
end $function$
;
alter function app.reserve_place(uuid,text,text) owner to muster_door;
CREATE OR REPLACE FUNCTION app.restore_contract_versions(story uuid, copies jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update contract_versions v set story_id = story
    from jsonb_to_recordset(copies) c (contract_id uuid, version int)
    where v.org_id = app.org_id() and v.contract_id = c.contract_id and v.version = c.version and v.story_id is null;
end $function$
;
alter function app.restore_contract_versions(uuid,jsonb) owner to muster_door;
CREATE OR REPLACE FUNCTION app.restore_records(story uuid, restored text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  org constant uuid := app.org_id();
  sample constant jsonb := (select d.record from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = restored limit 1);
  columns text;
  fields text;
begin
  select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
      string_agg('r.' || quote_ident(a.attname), ', ' order by a.attnum) into columns, fields from pg_attribute a
    where a.attrelid = to_regclass('public.' || quote_ident(restored)) and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = ''
      and sample ? a.attname;
  if columns is null then return; end if;
  execute format('insert into public.%I (%s) select %s from deleted_records d
    cross join lateral jsonb_populate_record(null::public.%I, d.record) r
    where d.org_id = $1 and d.story_id = $2 and d.kind = $3 order by d.nth on conflict do nothing',
    restored, columns, fields, restored) using org, story, restored;
end $function$
;
alter function app.restore_records(uuid,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.restore_story(story uuid, into_column uuid, into_status text, into_rank text)
 RETURNS TABLE(id uuid, project_id uuid, project_key text, number integer, title text, field text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  org constant uuid := app.org_id();
  copy jsonb := (select d.record from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'stories');
  project constant uuid := (copy ->> 'project_id')::uuid;
  former_parent constant uuid := (copy ->> 'parent_id')::uuid;
  waiters uuid[];
  blockers uuid[];
  children uuid[];
  waiting uuid[];
  restored text;
begin
  copy := copy || jsonb_build_object(
    'upstream', case when not exists (select 1 from stories o where o.org_id = org and o.project_id = project
      and o.upstream ->> 'provider' = copy #>> '{upstream,provider}'
      and o.upstream ->> 'externalId' = copy #>> '{upstream,externalId}') then copy -> 'upstream' end,
    'column_id', into_column, 'status', into_status, 'rank', into_rank, 'blocked_by', '[]'::jsonb,
    'completed_at', case when into_status = copy ->> 'status' then copy -> 'completed_at' end,
    'epic_id', (select e.id from epics e where e.org_id = org and e.id = (copy ->> 'epic_id')::uuid),
    'parent_id', (select p.id from stories p
      where p.org_id = org and p.project_id = project and p.id = (copy ->> 'parent_id')::uuid and p.parent_id is null),
    'version', (copy ->> 'version')::int + 1, 'updated_at', now());
  update deleted_records d set record = copy where d.org_id = org and d.story_id = story and d.kind = 'stories';

  waiters := array(select s.id from stories s where s.org_id = org and s.project_id = project
    and s.id in (select (d.record ->> 'story_id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'story_blockers'));
  blockers := array(select s.id from stories s where s.org_id = org and s.project_id = project
    and s.id in (select (d.record ->> 'blocker_id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'story_blockers'));
  children := array(select s.id from stories s where s.org_id = org and s.project_id = project and s.parent_id is null
    and copy ->> 'parent_id' is null
    and not exists (select 1 from stories c where c.org_id = org and c.parent_id = s.id)
    and s.id in (select (d.record ->> 'id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'children'));
  perform s.id from stories s where s.org_id = org and s.id = any (waiters || children) order by s.id for no key update;

  -- If the other story of a dependency is deleted too, its copy gets the dependency, so that it comes back with it.
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, o.story_id, o.nth + row_number() over (partition by o.story_id order by d.nth), d.kind, d.record
    from deleted_records d
    join lateral (select r.story_id, max(r.nth) as nth from deleted_records r
      where r.org_id = org and r.story_id <> story
        and r.story_id in ((d.record ->> 'story_id')::uuid, (d.record ->> 'blocker_id')::uuid) group by r.story_id) o on true
    where d.org_id = org and d.story_id = story and d.kind = 'story_blockers';
  update deleted_records c set record = c.record || jsonb_build_object('parent_id', story)
    from deleted_records d where d.org_id = org and d.story_id = story and d.kind = 'children'
      and c.org_id = org and c.story_id = (d.record ->> 'id')::uuid and c.kind = 'stories' and c.record ->> 'parent_id' is null;
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, former_parent, (select max(r.nth) from deleted_records r where r.org_id = org and r.story_id = former_parent) + 1,
      'children', jsonb_build_object('id', story)
    from deleted_stories d where d.org_id = org and d.id = former_parent;

  -- Drops references to members who left, agents that were retired and repositories that were unlinked in the meantime.
  delete from deleted_records d where d.org_id = org and d.story_id = story and (
    (d.kind = 'assignments' and (
      (d.record ->> 'member_id' is not null and not exists (select 1 from members m
        where m.org_id = org and m.id = (d.record ->> 'member_id')::uuid and m.status = 'active'))
      or (d.record ->> 'agent_id' is not null and not exists (select 1 from agents a
        join members m on m.org_id = org and m.id = a.member_id and m.status = 'active'
        where a.org_id = org and a.id = (d.record ->> 'agent_id')::uuid and a.retired_at is null))))
    or (d.kind = 'forge_pulls' and not exists (select 1 from forge_repositories r
      where r.org_id = org and r.id = (d.record ->> 'repository_id')::uuid))
    or (d.kind = 'contract_stories' and not exists (select 1 from contracts c
      where c.org_id = org and c.id = (d.record ->> 'contract_id')::uuid)));

  -- In the order of the references between these tables.
  foreach restored in array array['stories', 'story_specs', 'comments', 'comment_reactions', 'executions',
      'execution_events', 'execution_contributors', 'forge_observations', 'forge_pulls', 'attachments', 'code_changes',
      'code_change_files', 'assignments', 'story_reviewers', 'story_selections', 'story_subscriptions', 'budgets', 'contract_stories',
      'delivery_group_stories'] loop
    perform app.restore_records(story, restored);
  end loop;
  -- No lease is restored.
  update executions e set state = 'available', offer = null, waiting_for = null
    where e.org_id = org and e.target_type = 'story' and e.target_id = story and e.state in ('leased', 'waiting_input', 'offered');
  update agent_runs r set story_id = story,
      execution_id = coalesce(r.execution_id, (select e.id from executions e
        where e.org_id = org and e.id = (d.record ->> 'execution_id')::uuid))
    from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'agent_runs'
      and r.org_id = org and r.id = (d.record ->> 'id')::uuid and r.story_id is null;
  perform app.restore_contract_versions(story, (select coalesce(jsonb_agg(d.record), '[]') from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'contract_versions'));
  perform app.postpone_file_deletions(array(select (d.record ->> 'id')::uuid from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'attachments'), null);

  insert into story_blockers (org_id, project_id, story_id, blocker_id) select org, project, w.id, story from unnest(waiters) w (id);
  -- All stories that wait for the story, directly or through others. A parent waits for its children.
  with recursive found (id) as (
    select story
    union
    select n.id from found f cross join lateral (
      select b.story_id as id from story_blockers b where b.org_id = org and b.blocker_id = f.id
      union all
      select s.parent_id from stories s where s.org_id = org and s.id = f.id and s.parent_id is not null) n)
  select array_agg(f.id) into waiting from found f;
  insert into story_blockers (org_id, project_id, story_id, blocker_id)
    select org, project, story, b.id from unnest(blockers) b (id) where b.id <> all (waiting);
  children := array(select c.id from unnest(children) c (id) where c.id <> all (waiting));
  update stories s set parent_id = case when s.id = any (children) then story else s.parent_id end,
      version = s.version + 1, updated_at = now()
    where s.org_id = org and s.id = any (waiters || children);

  delete from deleted_stories d where d.org_id = org and d.id = story;
  return query select s.id, s.project_id, p.key, s.number, s.title, c.field
    from (select w.id, 'blockedBy' as field from unnest(waiters) w (id)
      union all select w.id, 'parentId' from unnest(children) w (id)) c
    join stories s on s.org_id = org and s.id = c.id join projects p on p.org_id = org and p.id = s.project_id
    order by s.number, c.field;
end $function$
;
alter function app.restore_story(uuid,uuid,text,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.revoke_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update connections set revoked_at = now() where org_id = new.id and revoked_at is null;
  update tokens set revoked_at = now() where org_id = new.id and revoked_at is null;
  return null;
end $function$
;
alter function app.revoke_tokens() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.search_grade(keys tsvector, queries tsquery[])
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when keys @@ queries[1] then 1 when keys @@ queries[2] then 2 when keys @@ queries[3] then 3
    when keys @@ queries[4] then 4 when keys @@ queries[5] then 5 when keys @@ queries[6] then 6
    when keys @@ queries[7] then 7 when keys @@ queries[8] then 8 when keys @@ queries[9] then 9 end
$function$
;
alter function app.search_grade(tsvector,tsquery[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.search_mark(org uuid)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return substr(translate(encode(sha256(uuid_send(org)), 'base64'), '+/', '-_'), 1, 4);
end $function$
;
alter function app.search_mark(uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.search_queries(mark text, typed text, words text[], near jsonb)
 RETURNS tsquery[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array[
    app.search_term(mark || 'e' || left(array_to_string(words, '_'), 80)),
    app.search_term(mark || 'e' || left(array_to_string(words, '_'), 80), true),
    string_agg(app.search_term(mark || 't' || word), ' & '),
    string_agg(app.search_term(mark || 't' || word, is_last), ' & '),
    string_agg(format('(%s | %s)', app.search_term(mark || 't' || word), app.search_term(mark || 'b' || word)), ' & '),
    string_agg(format('(%s | %s)', app.search_term(mark || 't' || word, is_last), app.search_term(mark || 'b' || word, is_last)), ' & '),
    (select string_agg(app.search_term(mark || gram), ' & ') from unnest((app.grams(typed))[:40]) as gram),
    case when near is not null then string_agg('(' || concat_ws(' | ', app.search_term(mark || 't' || word, is_last), slips.in_title) || ')', ' & ') end,
    case when near is not null then string_agg('(' || concat_ws(' | ', app.search_term(mark || 't' || word, is_last),
      app.search_term(mark || 'b' || word, is_last), slips.in_title, slips.in_text) || ')', ' & ') end
  ]::tsquery[]
  from (select word, nth, nth = cardinality(words) as is_last from unnest(words) with ordinality as w (word, nth)) w
  cross join lateral (
    select string_agg(app.search_term(mark || 't' || slip), ' | ') as in_title, string_agg(app.search_term(mark || 'b' || slip), ' | ') as in_text
    from jsonb_array_elements_text(near -> (nth - 1)::int) as slip) slips
$function$
;
alter function app.search_queries(text,text,text[],jsonb) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.search_term(key text, begun boolean DEFAULT false)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select '''' || replace(replace(key, '\', '\\'), '''', '''''') || case when begun then ''':*' else '''' end
$function$
;
alter function app.search_term(text,boolean) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.sessions_of(member uuid, own_token uuid, before_id uuid, most integer)
 RETURNS TABLE(id uuid, is_current boolean, user_agent text, ip text, created_at timestamp with time zone, last_seen_at timestamp with time zone, expires_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select s.id, exists (select 1 from public.tokens t where t.org_id = app.org_id() and t.id = own_token and t.session_id = s.id),
      s.user_agent, s.ip, s.created_at, s.last_seen_at, s.expires_at
    from sign_in.sessions s
    where s.account_id = app.account_of(member) and s.revoked_at is null and s.expires_at > now()
      and (before_id is null or s.id < before_id)
    order by s.id desc limit most;
end $function$
;
alter function app.sessions_of(uuid,uuid,uuid,integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.shown_state(stored text, lease_expires_at timestamp with time zone, offer_expires_at timestamp with time zone, now timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when stored in ('leased', 'waiting_input') and lease_expires_at <= now then 'stalled'
    when stored = 'offered' and offer_expires_at <= now then 'available'
    else stored end
$function$
;
alter function app.shown_state(text,timestamp with time zone,timestamp with time zone,timestamp with time zone) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.slips(org uuid, word text, twice boolean DEFAULT false)
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  mark constant text := app.search_mark(org);
  found bigint[] := array[hashtextextended(mark || word, 0)];
  left_over text;
begin
  for at in 1..length(word) loop
    left_over := overlay(word placing '' from at for 1);
    found := found || hashtextextended(mark || left_over, 0);
    -- Of two letters, the one before was left out before.
    for also in at..case when twice then length(left_over) else 0 end loop
      found := found || hashtextextended(mark || overlay(left_over placing '' from also for 1), 0);
    end loop;
  end loop;
  return found;
end $function$
;
alter function app.slips(uuid,text,boolean) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.stories_whose_key_begins(org uuid, visible uuid[], typed text, most integer)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  project_key constant text := upper(split_part(typed, '-', 1));
  digits constant text := split_part(typed, '-', 2);
begin
  return query select f.id
    from projects p
    cross join generate_series(case when digits = '' then 9 else 0 end, 9 - length(digits)) as more
    cross join lateral (
      select s.id from stories s
      where s.org_id = org and s.project_id = p.id
        and s.number between (digits || repeat('0', more))::int and (digits || repeat('9', more))::int
      order by s.number desc limit most) f
    where p.org_id = org and p.id = any (visible) and p.key = project_key
    order by f.id desc limit most;
end $function$
;
alter function app.stories_whose_key_begins(uuid,uuid[],text,integer) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.stories_with(wanted text[], most integer)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  query constant tsquery := (
    select string_agg(app.search_term(app.search_mark(app.org_id()) || key), ' & ') from unnest(wanted) as key)::tsquery;
begin
  return query select f.id
    from (select d.org_id, d.kind, d.id from search_documents d where d.keys @@ query offset 0) f
    where f.org_id = app.org_id() and f.kind = 'story' limit most;
end $function$
;
alter function app.stories_with(text[],integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.story_keys(org uuid, project uuid, key text, labels text[], title text, title_words text[], words text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  mark constant text := app.search_mark(org);
begin
  return app.title_keys(org, title, title_words, key) || app.marked(mark || 'b', words)
    || array[mark || 'p' || project]
    || case when labels <> '{}' then array(select mark || 'l' || label from unnest(labels) as label) end;
end $function$
;
alter function app.story_keys(uuid,uuid,text,text[],text,text[],text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.stream_positions(orgs uuid[], wanted uuid[])
 RETURNS TABLE(execution_id uuid, last_seq integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    select e.id, e.last_event_seq
    from unnest(orgs, wanted) as w (org_id, id)
    join public.executions e on e.org_id = w.org_id and e.id = w.id
    union all
    select i.recipient_id, i.last_seq
    from unnest(orgs, wanted) as w (org_id, id)
    join public.inbox_streams i on i.org_id = w.org_id and i.recipient_id = w.id
    union all
    select r.id, r.log_lines + (r.ended_at is not null)::int
    from unnest(orgs, wanted) as w (org_id, id)
    join public.agent_runs r on r.org_id = w.org_id and r.id = w.id;
end $function$
;
alter function app.stream_positions(uuid[],uuid[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.target_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select nullif(current_setting('muster.target_id', true), '')::uuid
$function$
;
alter function app.target_id() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.text_keys(org uuid, words text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return app.marked(app.search_mark(org) || 'b', words);
end $function$
;
alter function app.text_keys(uuid,text[]) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.title_keys(org uuid, title text, words text[], name text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  mark constant text := app.search_mark(org);
  -- Columns differ in how they compare, and so in what is a small letter.
  small constant text := lower((title || E'\n' || name) collate pg_c_utf8);
  keys text[] := app.marked(mark || 't', words) || (mark || 'e' || left(array_to_string(words, '_'), 80));
begin
  for at in 1..length(small) - 2 loop
    keys := keys || (mark || 'g' || substr(small, at, 3));
  end loop;
  return keys;
end $function$
;
alter function app.title_keys(uuid,text,text[],text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.token_reach(scopes text[], project_ids uuid[], agent_id uuid, may_read_inbox boolean)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select concat_ws('|', array_to_string(scopes, ' '), coalesce(array_to_string(project_ids, ' '), 'all'),
    case when agent_id is null or may_read_inbox then 'inbox' else 'no inbox' end)
$function$
;
alter function app.token_reach(text[],uuid[],uuid,boolean) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.token_resource(token_hash bytea)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return (select t.resource from public.tokens t where t.hash = token_hash and t.kind = 'oauth');
end $function$
;
alter function app.token_resource(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.touch_tokens(hashes bytea[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  update public.tokens set last_used_at = least(now(), revoked_at)
  where hash = any (hashes)
    and (last_used_at is null or last_used_at < least(now(), revoked_at) - interval '1 minute');
  update sign_in.sessions s set last_seen_at = now(), expires_at = least(now() + interval '30 days', s.ends_at)
  from (select k.id from sign_in.sessions k
    where k.id in (select t.session_id from public.tokens t where t.hash = any (hashes) and t.session_id is not null)
      and k.revoked_at is null and k.expires_at > now() and k.last_seen_at < now() - interval '1 minute'
    order by k.id for no key update) used
  where s.id = used.id;
  update public.tokens t set expires_at = s.expires_at
  from sign_in.sessions s
  where t.hash = any (hashes) and s.id = t.session_id and t.revoked_at is null
    and t.expires_at > now() and t.expires_at < s.expires_at - interval '1 day'
$function$
;
alter function app.touch_tokens(bytea[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.usage_cost(org uuid, used_model text, used_currency text, used_on date, input bigint, output bigint, cached bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return least(1000000000000000, coalesce((
    select round((input::numeric * p.input_micros + output::numeric * p.output_micros + cached::numeric * p.cached_micros) / 1000000)
    from (
      select true as is_own, u.* from (select model, currency, valid_from, input_micros, output_micros, cached_micros
        from usage_prices where org_id = org) u
      union all
      select false, d.* from app.default_usage_prices() d
    ) p
    where starts_with(used_model, p.model) and p.currency = used_currency and p.valid_from <= used_on
    order by p.is_own desc, length(p.model) desc, p.valid_from desc limit 1), 0))::bigint;
end $function$
;
alter function app.usage_cost(uuid,text,text,date,bigint,bigint,bigint) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.visible_projects(org uuid, member uuid, token uuid)
 RETURNS TABLE(project_id uuid, project_rank integer)
 LANGUAGE sql
 STABLE
AS $function$
  select p.id, r.rank
  from public.members m
  join public.tokens t on t.org_id = m.org_id and t.id = token
  join public.projects p on p.org_id = m.org_id
  cross join lateral (select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank) r
  where m.org_id = org and m.id = member and r.rank is not null
    and (t.project_ids is null or p.id = any (t.project_ids))
$function$
;
alter function app.visible_projects(uuid,uuid,uuid) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.words(said text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  unspaced constant text := '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]';
  emoji constant text := '\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff';
  folded text := app.fold(left(said, 20000)) collate pg_unicode_fast;
  spaced text;
  found text[];
begin
  if octet_length(folded) > length(folded) then
    folded := regexp_replace(folded, '([' || emoji || '])', ' \1 ', 'g');
  end if;
  spaced := btrim(regexp_replace(folded collate pg_unicode_fast, '[^[:alnum:]' || emoji || ']+', ' ', 'g'));
  found := string_to_array(spaced, ' ');
  if octet_length(spaced) > length(spaced) and spaced ~ unspaced then
    found := array(
      select p.piece
      from unnest(found) with ordinality as f (word, nth)
      cross join lateral (
        select substr(word, at, 2) as piece, at from generate_series(1, greatest(length(word) - 1, 1)) as at where word ~ unspaced
        union all
        select word, 1 where word !~ unspaced) p
      order by f.nth, p.at);
  end if;
  if length(spaced) > 60 and spaced ~ '[^ ]{61}' then
    found := array(select left(word, 60) from unnest(found) with ordinality as f (word, nth) order by nth);
  end if;
  return found[:2000];
end $function$
;
alter function app.words(text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.words_near(org uuid, typed text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if length(typed) not between 3 and 25 or typed ~ '[0-9]' then return '{}'; end if;
  return array(
    select distinct f.word
    from (select w.org_id, w.word from search_words w where w.slips && app.slips(org, typed, length(typed) >= 8) offset 0) f
    where f.org_id = org and f.word <> typed order by f.word limit 200);
end $function$
;
alter function app.words_near(uuid,text) owner to the_migrator;

-- Triggers

CREATE CONSTRAINT TRIGGER members_changed AFTER UPDATE OF role, status ON public.members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.role IS DISTINCT FROM new.role) OR (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER project_members_changed AFTER UPDATE ON public.project_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER project_members_gone AFTER DELETE ON public.project_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER project_teams_changed AFTER UPDATE ON public.project_teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER project_teams_gone AFTER DELETE ON public.project_teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER projects_changed AFTER UPDATE OF visibility, archived_at, deleted_at ON public.projects DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((old.visibility IS DISTINCT FROM new.visibility) OR (old.archived_at IS DISTINCT FROM new.archived_at)) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER projects_gone AFTER DELETE ON public.projects DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER team_members_changed AFTER UPDATE OF org_id, team_id, member_id ON public.team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((old.org_id IS DISTINCT FROM new.org_id) OR (old.team_id IS DISTINCT FROM new.team_id)) OR (old.member_id IS DISTINCT FROM new.member_id))) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER team_members_gone AFTER DELETE ON public.team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER tokens_changed AFTER UPDATE OF org_id, member_id, agent_id, hash, scopes, project_ids, may_read_inbox, expires_at, revoked_at ON public.tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((((((((old.org_id IS DISTINCT FROM new.org_id) OR (old.member_id IS DISTINCT FROM new.member_id)) OR (old.agent_id IS DISTINCT FROM new.agent_id)) OR (old.hash IS DISTINCT FROM new.hash)) OR (old.scopes IS DISTINCT FROM new.scopes)) OR (old.project_ids IS DISTINCT FROM new.project_ids)) OR (old.may_read_inbox IS DISTINCT FROM new.may_read_inbox)) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.revoked_at IS DISTINCT FROM new.revoked_at))) EXECUTE FUNCTION app.begin_epoch();
CREATE CONSTRAINT TRIGGER tokens_gone AFTER DELETE ON public.tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND ((old.expires_at IS NULL) OR (old.expires_at > now())))) EXECUTE FUNCTION app.begin_epoch();
CREATE TRIGGER accounts_unsent AFTER INSERT OR DELETE OR UPDATE OF email, name ON sign_in.accounts FOR EACH ROW EXECUTE FUNCTION app.note_unsent();
CREATE TRIGGER agents_named BEFORE INSERT ON public.agents FOR EACH ROW EXECUTE FUNCTION app.name_agent();
CREATE TRIGGER agents_retired AFTER UPDATE OF retired_at ON public.agents FOR EACH ROW WHEN (((old.retired_at IS NULL) AND (new.retired_at IS NOT NULL))) EXECUTE FUNCTION app.release_agent();
CREATE TRIGGER attachments_deleted AFTER DELETE ON public.attachments FOR EACH ROW EXECUTE FUNCTION app.request_file_deletion();
CREATE TRIGGER comments_not_searched AFTER DELETE ON public.comments FOR EACH ROW EXECUTE FUNCTION app.drop_documents('comment');
CREATE TRIGGER comments_searched AFTER INSERT ON public.comments FOR EACH ROW EXECUTE FUNCTION app.keep_comment_document();
CREATE TRIGGER comments_searched_anew AFTER UPDATE OF body ON public.comments FOR EACH ROW WHEN ((old.body IS DISTINCT FROM new.body)) EXECUTE FUNCTION app.keep_comment_document();
CREATE TRIGGER connections_ended AFTER UPDATE OF revoked_at ON public.connections FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION app.end_connection_tokens();
CREATE TRIGGER epics_let_go BEFORE DELETE ON public.epics FOR EACH ROW EXECUTE FUNCTION app.let_go_of_epic();
CREATE TRIGGER epics_not_searched AFTER DELETE ON public.epics FOR EACH ROW EXECUTE FUNCTION app.drop_documents('epic');
CREATE TRIGGER epics_searched AFTER INSERT ON public.epics FOR EACH ROW EXECUTE FUNCTION app.keep_epic_document();
CREATE TRIGGER epics_searched_anew AFTER UPDATE OF title, description ON public.epics FOR EACH ROW WHEN (((old.title IS DISTINCT FROM new.title) OR (old.description IS DISTINCT FROM new.description))) EXECUTE FUNCTION app.keep_epic_document();
CREATE TRIGGER executions_let_go BEFORE DELETE ON public.executions FOR EACH ROW EXECUTE FUNCTION app.let_go_of_execution();
CREATE TRIGGER export_parts_deleted AFTER DELETE ON public.export_parts FOR EACH ROW EXECUTE FUNCTION app.request_part_deletion();
CREATE TRIGGER leases_look_kept BEFORE UPDATE OF expires_at ON public.leases FOR EACH ROW EXECUTE FUNCTION app.keep_look();
CREATE TRIGGER members_end_runs AFTER UPDATE OF status ON public.members FOR EACH ROW WHEN ((new.status = 'removed'::text)) EXECUTE FUNCTION app.end_runs();
CREATE TRIGGER members_not_searched AFTER DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION app.drop_documents('member');
CREATE TRIGGER members_release_work AFTER UPDATE OF status ON public.members FOR EACH ROW WHEN ((new.status = 'removed'::text)) EXECUTE FUNCTION app.release_work();
CREATE TRIGGER members_searched AFTER INSERT ON public.members FOR EACH ROW EXECUTE FUNCTION app.keep_member_document();
CREATE TRIGGER members_searched_anew AFTER UPDATE OF name, handle, email, status ON public.members FOR EACH ROW WHEN (((((old.name IS DISTINCT FROM new.name) OR (old.handle IS DISTINCT FROM new.handle)) OR (old.email IS DISTINCT FROM new.email)) OR (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION app.keep_member_document();
CREATE TRIGGER notification_counts_placed BEFORE INSERT ON public.notification_counts FOR EACH ROW EXECUTE FUNCTION app.place_count();
CREATE TRIGGER notifications_counted AFTER INSERT ON public.notifications FOR EACH ROW EXECUTE FUNCTION app.count_unread();
CREATE TRIGGER notifications_recounted AFTER UPDATE ON public.notifications FOR EACH ROW EXECUTE FUNCTION app.count_read();
CREATE TRIGGER orgs_deleted AFTER UPDATE OF deleted_at ON public.orgs FOR EACH ROW WHEN ((new.deleted_at IS NOT NULL)) EXECUTE FUNCTION app.revoke_tokens();
CREATE TRIGGER orgs_first_epoch AFTER INSERT ON public.orgs FOR EACH ROW EXECUTE FUNCTION app.begin_first_epoch();
CREATE TRIGGER orgs_slug_free BEFORE INSERT OR UPDATE OF slug ON public.orgs FOR EACH ROW EXECUTE FUNCTION app.refuse_claimed_slug();
CREATE TRIGGER passkeys_unsent AFTER INSERT OR DELETE OR UPDATE OF name, counter, is_synced, last_used_at ON sign_in.passkeys FOR EACH ROW EXECUTE FUNCTION app.note_unsent();
CREATE TRIGGER sessions_changed_unsent AFTER UPDATE ON sign_in.sessions FOR EACH ROW WHEN ((((((old.hash IS DISTINCT FROM new.hash) OR (old.proofs IS DISTINCT FROM new.proofs)) OR (old.proven_at IS DISTINCT FROM new.proven_at)) OR (old.revoked_at IS DISTINCT FROM new.revoked_at)) OR (date_trunc('day'::text, old.expires_at, 'UTC'::text) IS DISTINCT FROM date_trunc('day'::text, new.expires_at, 'UTC'::text)))) EXECUTE FUNCTION app.note_unsent();
CREATE TRIGGER sessions_ended AFTER UPDATE OF revoked_at ON sign_in.sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION app.end_session_tokens();
CREATE TRIGGER sessions_renewed AFTER UPDATE OF hash ON sign_in.sessions FOR EACH ROW WHEN (((old.hash IS DISTINCT FROM new.hash) AND (COALESCE(current_setting('muster.from_peer'::text, true), ''::text) <> ''::text))) EXECUTE FUNCTION app.end_session_tokens();
CREATE TRIGGER sessions_unsent AFTER INSERT OR DELETE ON sign_in.sessions FOR EACH ROW EXECUTE FUNCTION app.note_unsent();
CREATE TRIGGER stories_counted_in AFTER INSERT ON public.stories FOR EACH ROW EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER stories_counted_out AFTER DELETE ON public.stories FOR EACH ROW EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER stories_let_go BEFORE DELETE ON public.stories FOR EACH ROW EXECUTE FUNCTION app.let_go_of_story();
CREATE TRIGGER stories_not_searched AFTER DELETE ON public.stories FOR EACH ROW EXECUTE FUNCTION app.drop_documents('story', 'spec');
CREATE TRIGGER stories_recounted AFTER UPDATE ON public.stories FOR EACH ROW EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER stories_searched AFTER INSERT ON public.stories FOR EACH ROW EXECUTE FUNCTION app.keep_story_document();
CREATE TRIGGER stories_searched_anew AFTER UPDATE OF title, description, labels ON public.stories FOR EACH ROW WHEN ((((old.title IS DISTINCT FROM new.title) OR (old.description IS DISTINCT FROM new.description)) OR (old.labels IS DISTINCT FROM new.labels))) EXECUTE FUNCTION app.keep_story_document();
CREATE TRIGGER story_blockers_kept AFTER INSERT OR DELETE ON public.story_blockers FOR EACH ROW EXECUTE FUNCTION app.keep_blocked_by();
CREATE TRIGGER story_specs_searched AFTER INSERT ON public.story_specs FOR EACH ROW EXECUTE FUNCTION app.keep_spec_document();
CREATE TRIGGER tokens_end_children AFTER UPDATE OF revoked_at, expires_at ON public.tokens FOR EACH ROW WHEN ((((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL)) OR (new.expires_at < COALESCE(old.expires_at, 'infinity'::timestamp with time zone)))) EXECUTE FUNCTION app.end_child_tokens();

-- Row security

alter table access_requests enable row level security, force row level security;
alter table activity enable row level security, force row level security;
alter table agent_runs enable row level security, force row level security;
alter table agents enable row level security, force row level security;
alter table assignments enable row level security, force row level security;
alter table attachments enable row level security, force row level security;
alter table audit enable row level security, force row level security;
alter table board_columns enable row level security, force row level security;
alter table broadcasts enable row level security, force row level security;
alter table budgets enable row level security, force row level security;
alter table catalog_agents enable row level security, force row level security;
alter table catalog_tombstones enable row level security, force row level security;
alter table catalog_versions enable row level security, force row level security;
alter table code_change_files enable row level security, force row level security;
alter table code_changes enable row level security, force row level security;
alter table comment_reactions enable row level security, force row level security;
alter table comments enable row level security, force row level security;
alter table connections enable row level security, force row level security;
alter table contract_stories enable row level security, force row level security;
alter table contract_versions enable row level security, force row level security;
alter table contracts enable row level security, force row level security;
alter table deleted_records enable row level security, force row level security;
alter table deleted_stories enable row level security, force row level security;
alter table delivery_group_stories enable row level security, force row level security;
alter table delivery_groups enable row level security, force row level security;
alter table devices enable row level security, force row level security;
alter table epics enable row level security, force row level security;
alter table execution_contributors enable row level security, force row level security;
alter table execution_events enable row level security, force row level security;
alter table executions enable row level security, force row level security;
alter table export_files enable row level security, force row level security;
alter table export_parts enable row level security, force row level security;
alter table exports enable row level security, force row level security;
alter table forge_checks enable row level security, force row level security;
alter table forge_connections enable row level security, force row level security;
alter table forge_deliveries enable row level security, force row level security;
alter table forge_facts enable row level security, force row level security;
alter table forge_observations enable row level security, force row level security;
alter table forge_pulls enable row level security, force row level security;
alter table forge_repositories enable row level security, force row level security;
alter table forge_statuses enable row level security, force row level security;
alter table gamification_state enable row level security, force row level security;
alter table idempotency_keys enable row level security, force row level security;
alter table identity_provider_domains enable row level security, force row level security;
alter table identity_providers enable row level security, force row level security;
alter table import_items enable row level security, force row level security;
alter table imports enable row level security, force row level security;
alter table inbox_items enable row level security, force row level security;
alter table inbox_streams enable row level security, force row level security;
alter table invitations enable row level security, force row level security;
alter table leases enable row level security, force row level security;
alter table lock_counters enable row level security, force row level security;
alter table locks enable row level security, force row level security;
alter table members enable row level security, force row level security;
alter table notification_counts enable row level security, force row level security;
alter table notification_digests enable row level security, force row level security;
alter table notification_preferences enable row level security, force row level security;
alter table notification_snoozes enable row level security, force row level security;
alter table notifications enable row level security, force row level security;
alter table orgs enable row level security, force row level security;
alter table outbox enable row level security, force row level security;
alter table plan_items enable row level security, force row level security;
alter table plans enable row level security, force row level security;
alter table point_days enable row level security, force row level security;
alter table point_entries enable row level security, force row level security;
alter table point_resets enable row level security, force row level security;
alter table point_scores enable row level security, force row level security;
alter table point_tallies enable row level security, force row level security;
alter table project_counters enable row level security, force row level security;
alter table project_members enable row level security, force row level security;
alter table project_teams enable row level security, force row level security;
alter table projects enable row level security, force row level security;
alter table prompts enable row level security, force row level security;
alter table rights_epochs enable row level security, force row level security;
alter table run_logs enable row level security, force row level security;
alter table run_usage enable row level security, force row level security;
alter table search_documents enable row level security, force row level security;
alter table search_words enable row level security, force row level security;
alter table seat_ledger enable row level security, force row level security;
alter table seat_usage enable row level security, force row level security;
alter table stories enable row level security, force row level security;
alter table story_blockers enable row level security, force row level security;
alter table story_reviewers enable row level security, force row level security;
alter table story_selections enable row level security, force row level security;
alter table story_specs enable row level security, force row level security;
alter table story_subscriptions enable row level security, force row level security;
alter table streams enable row level security, force row level security;
alter table subscriptions enable row level security, force row level security;
alter table team_members enable row level security, force row level security;
alter table teams enable row level security, force row level security;
alter table tokens enable row level security, force row level security;
alter table usage_days enable row level security, force row level security;
alter table usage_prices enable row level security, force row level security;
alter table views enable row level security, force row level security;
alter table webhook_deliveries enable row level security, force row level security;
alter table webhooks enable row level security, force row level security;

-- Policies

create policy door on access_requests for all to muster_door using true;
create policy own_organization on access_requests for all to muster_app using (org_id = app.org_id());
create policy worker on access_requests for all to muster_worker using true;
create policy door on activity for all to muster_door using true;
create policy own_organization on activity for all to muster_app using (org_id = app.org_id());
create policy worker on activity for all to muster_worker using true;
create policy door on agent_runs for all to muster_door using true;
create policy own_organization on agent_runs for all to muster_app using (org_id = app.org_id());
create policy worker on agent_runs for all to muster_worker using true;
create policy door on agents for all to muster_door using true;
create policy operator on agents for all to muster_operator using true;
create policy own_organization on agents for all to muster_app using (org_id = app.org_id());
create policy worker on agents for all to muster_worker using true;
create policy own_organization on assignments for all to muster_app using (org_id = app.org_id());
create policy worker on assignments for all to muster_worker using true;
create policy door on attachments for all to muster_door using true;
create policy own_organization on attachments for all to muster_app using (org_id = app.org_id());
create policy worker on attachments for all to muster_worker using true;
create policy door on audit for all to muster_door using true;
create policy operator on audit for all to muster_operator using true;
create policy own_organization on audit for all to muster_app using (org_id = app.org_id());
create policy platform on audit for all to muster_platform using true;
create policy worker on audit for all to muster_worker using true;
create policy door on board_columns for all to muster_door using true;
create policy own_organization on board_columns for all to muster_app using (org_id = app.org_id());
create policy worker on board_columns for all to muster_worker using true;
create policy own_organization on broadcasts for all to muster_app using (org_id = app.org_id());
create policy worker on broadcasts for all to muster_worker using true;
create policy own_organization on budgets for all to muster_app using (org_id = app.org_id());
create policy worker on budgets for all to muster_worker using true;
create policy own_organization on catalog_agents for all to muster_app using (org_id = app.org_id());
create policy worker on catalog_agents for all to muster_worker using true;
create policy own_organization on catalog_tombstones for all to muster_app using (org_id = app.org_id());
create policy worker on catalog_tombstones for all to muster_worker using true;
create policy own_organization on catalog_versions for all to muster_app using (org_id = app.org_id());
create policy worker on catalog_versions for all to muster_worker using true;
create policy own_organization on code_change_files for all to muster_app using (org_id = app.org_id());
create policy worker on code_change_files for all to muster_worker using true;
create policy own_organization on code_changes for all to muster_app using (org_id = app.org_id());
create policy worker on code_changes for all to muster_worker using true;
create policy own_organization on comment_reactions for all to muster_app using (org_id = app.org_id());
create policy worker on comment_reactions for all to muster_worker using true;
create policy door on comments for all to muster_door using true;
create policy own_organization on comments for all to muster_app using (org_id = app.org_id());
create policy worker on comments for all to muster_worker using true;
create policy door on connections for all to muster_door using true;
create policy operator on connections for all to muster_operator using true;
create policy own_organization on connections for all to muster_app using (org_id = app.org_id());
create policy worker on connections for all to muster_worker using true;
create policy own_organization on contract_stories for all to muster_app using (org_id = app.org_id());
create policy worker on contract_stories for all to muster_worker using true;
create policy door on contract_versions for all to muster_door using true;
create policy own_organization on contract_versions for all to muster_app using (org_id = app.org_id());
create policy worker on contract_versions for all to muster_worker using true;
create policy own_organization on contracts for all to muster_app using (org_id = app.org_id());
create policy worker on contracts for all to muster_worker using true;
create policy own_organization on deleted_records for all to muster_app using (org_id = app.org_id());
create policy worker on deleted_records for all to muster_worker using true;
create policy door on deleted_stories for all to muster_door using true;
create policy own_organization on deleted_stories for all to muster_app using (org_id = app.org_id());
create policy worker on deleted_stories for all to muster_worker using true;
create policy own_organization on delivery_group_stories for all to muster_app using (org_id = app.org_id());
create policy worker on delivery_group_stories for all to muster_worker using true;
create policy door on delivery_groups for all to muster_door using true;
create policy own_organization on delivery_groups for all to muster_app using (org_id = app.org_id());
create policy worker on delivery_groups for all to muster_worker using true;
create policy own_organization on devices for all to muster_app using (org_id = app.org_id());
create policy worker on devices for all to muster_worker using true;
create policy door on epics for all to muster_door using true;
create policy own_organization on epics for all to muster_app using (org_id = app.org_id());
create policy worker on epics for all to muster_worker using true;
create policy own_organization on execution_contributors for all to muster_app using (org_id = app.org_id());
create policy worker on execution_contributors for all to muster_worker using true;
create policy own_organization on execution_events for all to muster_app using (org_id = app.org_id());
create policy worker on execution_events for all to muster_worker using true;
create policy door on executions for all to muster_door using true;
create policy operator on executions for all to muster_operator using true;
create policy own_organization on executions for all to muster_app using (org_id = app.org_id());
create policy platform on executions for all to muster_platform using true;
create policy worker on executions for all to muster_worker using true;
create policy own_organization on export_files for all to muster_app using (org_id = app.org_id());
create policy worker on export_files for all to muster_worker using true;
create policy own_organization on export_parts for all to muster_app using (org_id = app.org_id());
create policy worker on export_parts for all to muster_worker using true;
create policy own_organization on exports for all to muster_app using (org_id = app.org_id());
create policy worker on exports for all to muster_worker using true;
create policy own_organization on forge_checks for all to muster_app using (org_id = app.org_id());
create policy worker on forge_checks for all to muster_worker using true;
create policy door on forge_connections for all to muster_door using true;
create policy own_organization on forge_connections for all to muster_app using (org_id = app.org_id());
create policy worker on forge_connections for all to muster_worker using true;
create policy own_organization on forge_deliveries for all to muster_app using (org_id = app.org_id());
create policy worker on forge_deliveries for all to muster_worker using true;
create policy own_organization on forge_facts for all to muster_app using (org_id = app.org_id());
create policy worker on forge_facts for all to muster_worker using true;
create policy own_organization on forge_observations for all to muster_app using (org_id = app.org_id());
create policy worker on forge_observations for all to muster_worker using true;
create policy own_organization on forge_pulls for all to muster_app using (org_id = app.org_id());
create policy worker on forge_pulls for all to muster_worker using true;
create policy own_organization on forge_repositories for all to muster_app using (org_id = app.org_id());
create policy worker on forge_repositories for all to muster_worker using true;
create policy own_organization on forge_statuses for all to muster_app using (org_id = app.org_id());
create policy worker on forge_statuses for all to muster_worker using true;
create policy own_organization on gamification_state for all to muster_app using (org_id = app.org_id());
create policy worker on gamification_state for all to muster_worker using true;
create policy own_organization on idempotency_keys for all to muster_app using (org_id = app.org_id());
create policy worker on idempotency_keys for all to muster_worker using true;
create policy door on identity_provider_domains for all to muster_door using true;
create policy own_organization on identity_provider_domains for all to muster_app using (org_id = app.org_id());
create policy worker on identity_provider_domains for all to muster_worker using true;
create policy door on identity_providers for all to muster_door using true;
create policy own_organization on identity_providers for all to muster_app using (org_id = app.org_id());
create policy worker on identity_providers for all to muster_worker using true;
create policy own_organization on import_items for all to muster_app using (org_id = app.org_id());
create policy worker on import_items for all to muster_worker using true;
create policy door on imports for all to muster_door using true;
create policy own_organization on imports for all to muster_app using (org_id = app.org_id());
create policy worker on imports for all to muster_worker using true;
create policy own_organization on inbox_items for all to muster_app using (org_id = app.org_id());
create policy worker on inbox_items for all to muster_worker using true;
create policy door on inbox_streams for all to muster_door using true;
create policy operator on inbox_streams for all to muster_operator using true;
create policy own_organization on inbox_streams for all to muster_app using (org_id = app.org_id());
create policy worker on inbox_streams for all to muster_worker using true;
create policy door on invitations for all to muster_door using true;
create policy operator on invitations for all to muster_operator using true;
create policy own_organization on invitations for all to muster_app using (org_id = app.org_id());
create policy worker on invitations for all to muster_worker using true;
create policy door on leases for all to muster_door using true;
create policy operator on leases for all to muster_operator using true;
create policy own_organization on leases for all to muster_app using (org_id = app.org_id());
create policy worker on leases for all to muster_worker using true;
create policy operator on lock_counters for all to muster_operator using true;
create policy own_organization on lock_counters for all to muster_app using (org_id = app.org_id());
create policy worker on lock_counters for all to muster_worker using true;
create policy door on locks for all to muster_door using true;
create policy own_organization on locks for all to muster_app using (org_id = app.org_id());
create policy worker on locks for all to muster_worker using true;
create policy door on members for all to muster_door using true;
create policy operator on members for all to muster_operator using true;
create policy own_organization on members for all to muster_app using (org_id = app.org_id());
create policy platform on members for all to muster_platform using true;
create policy worker on members for all to muster_worker using true;
create policy door on notification_counts for all to muster_door using true;
create policy own_organization on notification_counts for all to muster_app using (org_id = app.org_id());
create policy worker on notification_counts for all to muster_worker using true;
create policy own_organization on notification_digests for all to muster_app using (org_id = app.org_id());
create policy worker on notification_digests for all to muster_worker using true;
create policy own_organization on notification_preferences for all to muster_app using (org_id = app.org_id());
create policy worker on notification_preferences for all to muster_worker using true;
create policy own_organization on notification_snoozes for all to muster_app using (org_id = app.org_id());
create policy worker on notification_snoozes for all to muster_worker using true;
create policy own_organization on notifications for all to muster_app using (org_id = app.org_id());
create policy worker on notifications for all to muster_worker using true;
create policy door on orgs for all to muster_door using true;
create policy operator on orgs for all to muster_operator using true;
create policy own_organization on orgs for all to muster_app using (id = app.org_id());
create policy platform on orgs for all to muster_platform using true;
create policy worker on orgs for all to muster_worker using true;
create policy operator on outbox for all to muster_operator using true;
create policy own_organization on outbox for all to muster_app using (org_id = app.org_id());
create policy platform on outbox for all to muster_platform using true;
create policy worker on outbox for all to muster_worker using true;
create policy own_organization on plan_items for all to muster_app using (org_id = app.org_id());
create policy worker on plan_items for all to muster_worker using true;
create policy door on plans for all to muster_door using true;
create policy own_organization on plans for all to muster_app using (org_id = app.org_id());
create policy worker on plans for all to muster_worker using true;
create policy own_organization on point_days for all to muster_app using (org_id = app.org_id());
create policy worker on point_days for all to muster_worker using true;
create policy own_organization on point_entries for all to muster_app using (org_id = app.org_id());
create policy worker on point_entries for all to muster_worker using true;
create policy own_organization on point_resets for all to muster_app using (org_id = app.org_id());
create policy worker on point_resets for all to muster_worker using true;
create policy own_organization on point_scores for all to muster_app using (org_id = app.org_id());
create policy worker on point_scores for all to muster_worker using true;
create policy own_organization on point_tallies for all to muster_app using (org_id = app.org_id());
create policy worker on point_tallies for all to muster_worker using true;
create policy own_organization on project_counters for all to muster_app using (org_id = app.org_id());
create policy worker on project_counters for all to muster_worker using true;
create policy door on project_members for all to muster_door using true;
create policy own_organization on project_members for all to muster_app using (org_id = app.org_id());
create policy worker on project_members for all to muster_worker using true;
create policy door on project_teams for all to muster_door using true;
create policy own_organization on project_teams for all to muster_app using (org_id = app.org_id());
create policy worker on project_teams for all to muster_worker using true;
create policy door on projects for all to muster_door using true;
create policy operator on projects for all to muster_operator using true;
create policy own_organization on projects for all to muster_app using (org_id = app.org_id());
create policy platform on projects for all to muster_platform using true;
create policy standing on projects for select to muster_door, muster_operator, muster_platform using (deleted_at IS NULL);
create policy standing_or_going on projects for select to muster_app using ((deleted_at IS NULL) OR (current_setting('muster.deleting'::text, true) = (id)::text));
create policy worker on projects for all to muster_worker using true;
create policy own_organization on prompts for all to muster_app using (org_id = app.org_id());
create policy worker on prompts for all to muster_worker using true;
create policy door on rights_epochs for all to muster_door using true;
create policy operator on rights_epochs for all to muster_operator using true;
create policy own_organization on rights_epochs for all to muster_app using (org_id = app.org_id());
create policy worker on rights_epochs for all to muster_worker using true;
create policy own_organization on run_logs for all to muster_app using (org_id = app.org_id());
create policy worker on run_logs for all to muster_worker using true;
create policy own_organization on run_usage for all to muster_app using (org_id = app.org_id());
create policy worker on run_usage for all to muster_worker using true;
create policy door on search_documents for all to muster_door using true;
create policy own_organization on search_documents for all to muster_app using (org_id = app.org_id());
create policy worker on search_documents for all to muster_worker using true;
create policy door on search_words for all to muster_door using true;
create policy own_organization on search_words for all to muster_app using (org_id = app.org_id());
create policy worker on search_words for all to muster_worker using true;
create policy own_organization on seat_ledger for all to muster_app using (org_id = app.org_id());
create policy worker on seat_ledger for all to muster_worker using true;
create policy own_organization on seat_usage for all to muster_app using (org_id = app.org_id());
create policy worker on seat_usage for all to muster_worker using true;
create policy door on stories for all to muster_door using true;
create policy own_organization on stories for all to muster_app using (org_id = app.org_id());
create policy platform on stories for all to muster_platform using true;
create policy worker on stories for all to muster_worker using true;
create policy door on story_blockers for all to muster_door using true;
create policy own_organization on story_blockers for all to muster_app using (org_id = app.org_id());
create policy worker on story_blockers for all to muster_worker using true;
create policy own_organization on story_reviewers for all to muster_app using (org_id = app.org_id());
create policy worker on story_reviewers for all to muster_worker using true;
create policy own_organization on story_selections for all to muster_app using (org_id = app.org_id());
create policy worker on story_selections for all to muster_worker using true;
create policy door on story_specs for all to muster_door using true;
create policy own_organization on story_specs for all to muster_app using (org_id = app.org_id());
create policy worker on story_specs for all to muster_worker using true;
create policy own_organization on story_subscriptions for all to muster_app using (org_id = app.org_id());
create policy worker on story_subscriptions for all to muster_worker using true;
create policy door on streams for all to muster_door using true;
create policy operator on streams for all to muster_operator using true;
create policy own_organization on streams for all to muster_app using (org_id = app.org_id());
create policy platform on streams for all to muster_platform using true;
create policy worker on streams for all to muster_worker using true;
create policy door on subscriptions for all to muster_door using true;
create policy operator on subscriptions for all to muster_operator using true;
create policy own_organization on subscriptions for all to muster_app using (org_id = app.org_id());
create policy platform on subscriptions for all to muster_platform using true;
create policy worker on subscriptions for all to muster_worker using true;
create policy door on team_members for all to muster_door using true;
create policy own_organization on team_members for all to muster_app using (org_id = app.org_id());
create policy platform on team_members for all to muster_platform using true;
create policy worker on team_members for all to muster_worker using true;
create policy own_organization on teams for all to muster_app using (org_id = app.org_id());
create policy platform on teams for all to muster_platform using true;
create policy worker on teams for all to muster_worker using true;
create policy door on tokens for all to muster_door using true;
create policy operator on tokens for all to muster_operator using true;
create policy own_organization on tokens for all to muster_app using (org_id = app.org_id());
create policy platform on tokens for all to muster_platform using true;
create policy worker on tokens for all to muster_worker using true;
create policy own_organization on usage_days for all to muster_app using (org_id = app.org_id());
create policy worker on usage_days for all to muster_worker using true;
create policy own_organization on usage_prices for all to muster_app using (org_id = app.org_id());
create policy worker on usage_prices for all to muster_worker using true;
create policy own_organization on views for all to muster_app using (org_id = app.org_id());
create policy worker on views for all to muster_worker using true;
create policy own_organization on webhook_deliveries for all to muster_app using (org_id = app.org_id());
create policy worker on webhook_deliveries for all to muster_worker using true;
create policy own_organization on webhooks for all to muster_app using (org_id = app.org_id());
create policy worker on webhooks for all to muster_worker using true;

-- Grants

grant delete on access_requests to muster_worker;
grant delete on activity to muster_worker;
grant delete on agent_runs to muster_worker;
grant delete on agents to muster_worker;
grant delete on assignments to muster_worker;
grant delete on attachments to muster_worker;
grant delete on audit to muster_worker;
grant delete on board_columns to muster_worker;
grant delete on broadcasts to muster_worker;
grant delete on budgets to muster_worker;
grant delete on catalog_agents to muster_worker;
grant delete on catalog_tombstones to muster_worker;
grant delete on catalog_versions to muster_worker;
grant delete on code_change_files to muster_worker;
grant delete on code_changes to muster_worker;
grant delete on comment_reactions to muster_worker;
grant delete on comments to muster_worker;
grant delete on connections to muster_worker;
grant delete on contract_stories to muster_worker;
grant delete on contract_versions to muster_worker;
grant delete on contracts to muster_worker;
grant delete on deleted_records to muster_worker;
grant delete on deleted_stories to muster_worker;
grant delete on delivery_group_stories to muster_worker;
grant delete on delivery_groups to muster_worker;
grant delete on devices to muster_worker;
grant delete on epics to muster_worker;
grant delete on execution_contributors to muster_worker;
grant delete on execution_events to muster_worker;
grant delete on executions to muster_worker;
grant delete on export_files to muster_worker;
grant delete on export_parts to muster_worker;
grant delete on exports to muster_worker;
grant delete on forge_checks to muster_worker;
grant delete on forge_connections to muster_worker;
grant delete on forge_deliveries to muster_worker;
grant delete on forge_facts to muster_worker;
grant delete on forge_observations to muster_worker;
grant delete on forge_pulls to muster_worker;
grant delete on forge_repositories to muster_worker;
grant delete on forge_statuses to muster_worker;
grant delete on gamification_state to muster_worker;
grant delete on idempotency_keys to muster_worker;
grant delete on identity_provider_domains to muster_worker;
grant delete on identity_providers to muster_worker;
grant delete on import_items to muster_worker;
grant delete on imports to muster_worker;
grant delete on inbox_items to muster_worker;
grant delete on inbox_streams to muster_worker;
grant delete on invitations to muster_worker;
grant delete on leases to muster_worker;
grant delete on lock_counters to muster_worker;
grant delete on locks to muster_worker;
grant delete on members to muster_worker;
grant delete on notification_counts to muster_worker;
grant delete on notification_digests to muster_worker;
grant delete on notification_preferences to muster_worker;
grant delete on notification_snoozes to muster_worker;
grant delete on notifications to muster_worker;
grant delete on orgs to muster_worker;
grant delete on outbox to muster_worker;
grant delete on plan_items to muster_worker;
grant delete on plans to muster_worker;
grant delete on point_days to muster_worker;
grant delete on point_entries to muster_worker;
grant delete on point_resets to muster_worker;
grant delete on point_scores to muster_worker;
grant delete on point_tallies to muster_worker;
grant delete on project_counters to muster_worker;
grant delete on project_members to muster_worker;
grant delete on project_teams to muster_worker;
grant delete on projects to muster_worker;
grant delete on prompts to muster_worker;
grant delete on rights_epochs to muster_worker;
grant delete on run_logs to muster_worker;
grant delete on run_usage to muster_worker;
grant delete on search_documents to muster_worker;
grant delete on search_words to muster_worker;
grant delete on seat_ledger to muster_worker;
grant delete on seat_usage to muster_worker;
grant delete on sign_in.passkeys to muster_door;
grant delete on stories to muster_worker;
grant delete on story_blockers to muster_worker;
grant delete on story_reviewers to muster_worker;
grant delete on story_selections to muster_worker;
grant delete on story_specs to muster_worker;
grant delete on story_subscriptions to muster_worker;
grant delete on streams to muster_worker;
grant delete on subscriptions to muster_worker;
grant delete on team_members to muster_worker;
grant delete on teams to muster_worker;
grant delete on tokens to muster_worker;
grant delete on usage_days to muster_worker;
grant delete on usage_prices to muster_worker;
grant delete on views to muster_worker;
grant delete on webhook_deliveries to muster_worker;
grant delete on webhooks to muster_worker;
grant delete, insert, select on catalog_versions to muster_app;
grant delete, insert, select on code_change_files to muster_app;
grant delete, insert, select on run_logs to muster_app;
grant delete, insert, select on story_specs to muster_app;
grant delete, insert, select, update on access_requests to muster_app;
grant delete, insert, select, update on agents to muster_app;
grant delete, insert, select, update on assignments to muster_app;
grant delete, insert, select, update on attachments to muster_app;
grant delete, insert, select, update on board_columns to muster_app;
grant delete, insert, select, update on broadcasts to muster_app;
grant delete, insert, select, update on budgets to muster_app;
grant delete, insert, select, update on catalog_agents to muster_app;
grant delete, insert, select, update on code_changes to muster_app;
grant delete, insert, select, update on comment_reactions to muster_app;
grant delete, insert, select, update on comments to muster_app;
grant delete, insert, select, update on connections to muster_app;
grant delete, insert, select, update on deleted_records to muster_app;
grant delete, insert, select, update on deleted_stories to muster_app;
grant delete, insert, select, update on delivery_group_stories to muster_app;
grant delete, insert, select, update on delivery_groups to muster_app;
grant delete, insert, select, update on devices to muster_app;
grant delete, insert, select, update on epics to muster_app;
grant delete, insert, select, update on execution_contributors to muster_app;
grant delete, insert, select, update on executions to muster_app;
grant delete, insert, select, update on export_files to muster_app;
grant delete, insert, select, update on export_parts to muster_app;
grant delete, insert, select, update on exports to muster_app;
grant delete, insert, select, update on forge_connections to muster_app;
grant delete, insert, select, update on forge_facts to muster_app;
grant delete, insert, select, update on forge_pulls to muster_app;
grant delete, insert, select, update on forge_repositories to muster_app;
grant delete, insert, select, update on forge_statuses to muster_app;
grant delete, insert, select, update on gamification_state to muster_app;
grant delete, insert, select, update on idempotency_keys to muster_app;
grant delete, insert, select, update on identity_provider_domains to muster_app;
grant delete, insert, select, update on identity_providers to muster_app;
grant delete, insert, select, update on import_items to muster_app;
grant delete, insert, select, update on imports to muster_app;
grant delete, insert, select, update on invitations to muster_app;
grant delete, insert, select, update on leases to muster_app;
grant delete, insert, select, update on lock_counters to muster_app;
grant delete, insert, select, update on locks to muster_app;
grant delete, insert, select, update on members to muster_app;
grant delete, insert, select, update on notification_counts to muster_app;
grant delete, insert, select, update on notification_digests to muster_app;
grant delete, insert, select, update on notification_preferences to muster_app;
grant delete, insert, select, update on notification_snoozes to muster_app;
grant delete, insert, select, update on outbox to muster_app;
grant delete, insert, select, update on plan_items to muster_app;
grant delete, insert, select, update on plans to muster_app;
grant delete, insert, select, update on point_days to muster_app;
grant delete, insert, select, update on point_resets to muster_app;
grant delete, insert, select, update on point_scores to muster_app;
grant delete, insert, select, update on point_tallies to muster_app;
grant delete, insert, select, update on project_counters to muster_app;
grant delete, insert, select, update on project_members to muster_app;
grant delete, insert, select, update on project_teams to muster_app;
grant delete, insert, select, update on projects to muster_app;
grant delete, insert, select, update on prompts to muster_app;
grant delete, insert, select, update on search_documents to muster_door;
grant delete, insert, select, update on sign_in.accounts to muster_sign_in;
grant delete, insert, select, update on sign_in.flows to muster_sign_in;
grant delete, insert, select, update on sign_in.identities to muster_sign_in;
grant delete, insert, select, update on sign_in.oauth_records to muster_sign_in;
grant delete, insert, select, update on sign_in.passkeys to muster_sign_in;
grant delete, insert, select, update on sign_in.peers to muster_sign_in;
grant delete, insert, select, update on sign_in.sessions to muster_sign_in;
grant delete, insert, select, update on sign_in.sign_ins to muster_sign_in;
grant delete, insert, select, update on sign_in.unsent to muster_sign_in;
grant delete, insert, select, update on stories to muster_app;
grant delete, insert, select, update on story_blockers to muster_app;
grant delete, insert, select, update on story_reviewers to muster_app;
grant delete, insert, select, update on story_selections to muster_app;
grant delete, insert, select, update on story_subscriptions to muster_app;
grant delete, insert, select, update on streams to muster_app;
grant delete, insert, select, update on subscriptions to muster_app;
grant delete, insert, select, update on team_members to muster_app;
grant delete, insert, select, update on teams to muster_app;
grant delete, insert, select, update on tokens to muster_app;
grant delete, insert, select, update on usage_prices to muster_app;
grant delete, insert, select, update on views to muster_app;
grant insert on audit to muster_operator;
grant insert, select on activity to muster_app;
grant insert, select on audit to muster_app;
grant insert, select on catalog_tombstones to muster_app;
grant insert, select on contract_stories to muster_app;
grant insert, select on contract_versions to muster_app;
grant insert, select on execution_events to muster_app;
grant insert, select on forge_checks to muster_app;
grant insert, select on forge_observations to muster_app;
grant insert, select on inbox_items to muster_app;
grant insert, select on rights_epochs to muster_operator;
grant insert, select on search_words to muster_door;
grant insert, select on seat_ledger to muster_app;
grant insert, select, update on agent_runs to muster_app;
grant insert, select, update on agents to muster_operator;
grant insert, select, update on contracts to muster_app;
grant insert, select, update on forge_deliveries to muster_app;
grant insert, select, update on inbox_streams to muster_app;
grant insert, select, update on members to muster_operator;
grant insert, select, update on notifications to muster_app;
grant insert, select, update on orgs to muster_operator;
grant insert, select, update on point_entries to muster_app;
grant insert, select, update on run_usage to muster_app;
grant insert, select, update on seat_usage to muster_app;
grant insert, select, update on sign_in.unsent to muster_door;
grant insert, select, update on streams to muster_operator;
grant insert, select, update on subscriptions to muster_operator;
grant insert, select, update on tokens to muster_operator;
grant insert, select, update on usage_days to muster_app;
grant insert, select, update on webhook_deliveries to muster_app;
grant insert, select, update on webhooks to muster_app;
grant select on access_requests to muster_door;
grant select on agents to muster_door;
grant select on attachments to muster_door;
grant select on board_columns to muster_door;
grant select on comments to muster_door;
grant select on connections to muster_door;
grant select on connections to muster_operator;
grant select on deleted_stories to muster_door;
grant select on delivery_groups to muster_door;
grant select on epics to muster_door;
grant select on executions to muster_door;
grant select on executions to muster_operator;
grant select on identity_provider_domains to muster_door;
grant select on imports to muster_door;
grant select on inbox_streams to muster_door;
grant select on inbox_streams to muster_operator;
grant select on invitations to muster_door;
grant select on invitations to muster_operator;
grant select on leases to muster_door;
grant select on leases to muster_operator;
grant select on lock_counters to muster_operator;
grant select on locks to muster_door;
grant select on members to muster_door;
grant select on orgs to muster_door;
grant select on plans to muster_door;
grant select on project_members to muster_door;
grant select on project_teams to muster_door;
grant select on projects to muster_door;
grant select on projects to muster_operator;
grant select on rights_epochs to muster_app;
grant select on rights_epochs to muster_door;
grant select on search_documents to muster_app;
grant select on search_words to muster_app;
grant select on sign_in.accounts to muster_door;
grant select on sign_in.peers to muster_door;
grant select on sign_in.sessions to muster_door;
grant select on stories to muster_door;
grant select on story_blockers to muster_door;
grant select on team_members to muster_door;
grant select on tokens to muster_door;
grant select, update on orgs to muster_app;
grant select, update on outbox to muster_operator;

-- Grants on functions

grant execute on function app.activity_seen(uuid[],uuid[],uuid[],bigint[],bigint[],uuid[],text[]) to muster_app;
grant execute on function app.address_of_account(uuid) to muster_app;
grant execute on function app.agent_responses(uuid,uuid[]) to public;
grant execute on function app.agree_on_file_folder(uuid) to muster_app;
grant execute on function app.asked_proofs(uuid,uuid) to muster_sign_in;
grant execute on function app.bar_of(uuid) to public;
grant execute on function app.begin_first_epoch() to public;
grant execute on function app.begin_organization(uuid,uuid,uuid,text,text,text,integer,uuid,jsonb) to muster_sign_in;
grant execute on function app.cancel_runs(uuid,uuid,uuid,text) to public;
grant execute on function app.claim_key(uuid,uuid,text,text,bytea) to public;
grant execute on function app.claim_next(uuid,uuid[],boolean) to public;
grant execute on function app.claim_slug(uuid,text,text) to muster_app, muster_sign_in;
grant execute on function app.count_read() to public;
grant execute on function app.count_stories() to public;
grant execute on function app.count_unread() to public;
grant execute on function app.default_usage_prices() to public;
grant execute on function app.delete_passkey(uuid,uuid) to muster_app;
grant execute on function app.delete_passkey_of_account(uuid,uuid) to muster_sign_in;
grant execute on function app.door_of(uuid) to public;
grant execute on function app.end_child_tokens() to public;
grant execute on function app.end_connection(uuid) to muster_sign_in;
grant execute on function app.end_connection_token(bytea) to muster_sign_in;
grant execute on function app.end_connection_tokens() to public;
grant execute on function app.end_runs() to public;
grant execute on function app.end_sessions(uuid,uuid,uuid) to muster_app;
grant execute on function app.end_unproven_sessions() to muster_app;
grant execute on function app.enter(bytea,integer,text,text,integer,text,uuid,uuid,timestamp with time zone,uuid[]) to muster_app;
grant execute on function app.enter_as_system(uuid) to muster_app;
grant execute on function app.enter_by_account(bytea,uuid,uuid) to muster_app;
grant execute on function app.enter_by_invitation(bytea) to muster_app;
grant execute on function app.enter_standby(pg_lsn,uuid,uuid,text,text,uuid[]) to muster_app;
grant execute on function app.excerpt(text,text,text[]) to public;
grant execute on function app.export_salt() to muster_app;
grant execute on function app.find(uuid,uuid,uuid,text[],text,integer) to muster_app;
grant execute on function app.find_connection_token(bytea) to muster_sign_in;
grant execute on function app.find_forge_connection(uuid) to muster_app;
grant execute on function app.find_identity_provider(uuid) to muster_sign_in;
grant execute on function app.fold(text) to public;
grant execute on function app.forget_place(uuid,text) to muster_app, muster_operator, muster_sign_in;
grant execute on function app.free_name(uuid,text,integer) to public;
grant execute on function app.free_work(uuid,uuid,uuid,text) to public;
grant execute on function app.give_connection_token(uuid,uuid,bytea,text,text,text[],integer) to muster_sign_in;
grant execute on function app.given_rank(text,text) to public;
grant execute on function app.go_beyond_loss(uuid,integer,bigint) to muster_operator;
grant execute on function app.grams(text) to public;
grant execute on function app.held_rank(text,text) to public;
grant execute on function app.hold_open() to public;
grant execute on function app.identify(bytea) to muster_app;
grant execute on function app.identify_session(bytea,uuid,bytea,uuid) to muster_app;
grant execute on function app.identity_providers_of(text) to muster_sign_in;
grant execute on function app.inbox_positions(uuid[],uuid[]) to muster_app;
grant execute on function app.invitations_of(uuid) to muster_sign_in;
grant execute on function app.is_connected(uuid) to muster_sign_in;
grant execute on function app.keep_deleted_story(uuid,jsonb) to public;
grant execute on function app.keep_look() to public;
grant execute on function app.keep_months(integer) to muster_worker;
grant execute on function app.known_address(text) to muster_sign_in;
grant execute on function app.lacks_proof(jsonb,text,text[]) to public;
grant execute on function app.marked(text,text[]) to public;
grant execute on function app.member_keys(uuid,text,text[],text,text) to public;
grant execute on function app.moves_while_rights_hold(uuid[],uuid[],timestamp with time zone[]) to muster_app;
grant execute on function app.name_agent() to public;
grant execute on function app.new_id(timestamp with time zone) to public;
grant execute on function app.nodes_closed() to muster_operator, muster_sign_in;
grant execute on function app.note_connection(uuid,uuid,jsonb) to muster_sign_in;
grant execute on function app.note_listeners(uuid[],uuid[],integer) to muster_app;
grant execute on function app.open_connection(uuid,uuid,uuid,uuid,text,text,text,text,text[],uuid[],integer) to muster_sign_in;
grant execute on function app.open_executions() to muster_platform, muster_worker;
grant execute on function app.org_id() to public;
grant execute on function app.organization_of(uuid,bytea) to muster_sign_in;
grant execute on function app.organization_positions(uuid[]) to muster_app;
grant execute on function app.organizations_of(uuid) to muster_sign_in;
grant execute on function app.organizations_of_session(uuid) to muster_sign_in;
grant execute on function app.passkeys_of(uuid,uuid,integer) to muster_app;
grant execute on function app.passkeys_of_account(uuid,uuid,integer) to muster_sign_in;
grant execute on function app.period_start(text,timestamp with time zone) to public;
grant execute on function app.place_count() to public;
grant execute on function app.places_of(uuid[]) to muster_app, muster_operator, muster_worker, muster_sign_in;
grant execute on function app.platform_accounts(text,text,integer,integer) to muster_app;
grant execute on function app.platform_executions() to muster_app;
grant execute on function app.platform_metrics() to muster_app;
grant execute on function app.platform_orgs(text,text,integer,integer) to muster_app;
grant execute on function app.platform_subscriptions(text,text,integer,integer) to muster_app;
grant execute on function app.platform_teams(text,uuid,text,integer,integer) to muster_app;
grant execute on function app.postpone_file_deletions(uuid[],timestamp with time zone) to muster_app;
grant execute on function app.project_id() to public;
grant execute on function app.project_rank(uuid,uuid,text,uuid,text) to public;
grant execute on function app.project_stays(uuid,uuid) to public;
grant execute on function app.put_document(uuid,uuid,text,uuid,text[],text[]) to public;
grant execute on function app.release_agent() to public;
grant execute on function app.release_assignments(uuid,uuid,uuid[]) to public;
grant execute on function app.release_member(uuid,uuid) to public;
grant execute on function app.release_work() to public;
grant execute on function app.rename_passkey(uuid,uuid,text) to muster_app;
grant execute on function app.rename_passkey_of_account(uuid,uuid,text) to muster_sign_in;
grant execute on function app.renew_session_tokens(uuid,uuid[],bytea[]) to muster_sign_in;
grant execute on function app.reserve_place(uuid,text,text) to muster_operator, muster_sign_in;
grant execute on function app.restore_contract_versions(uuid,jsonb) to muster_app;
grant execute on function app.restore_records(uuid,text) to public;
grant execute on function app.restore_story(uuid,uuid,text,text) to public;
grant execute on function app.revoke_tokens() to public;
grant execute on function app.search_grade(tsvector,tsquery[]) to public;
grant execute on function app.search_mark(uuid) to public;
grant execute on function app.search_queries(text,text,text[],jsonb) to public;
grant execute on function app.search_term(text,boolean) to public;
grant execute on function app.sessions_of(uuid,uuid,uuid,integer) to muster_app;
grant execute on function app.shown_state(text,timestamp with time zone,timestamp with time zone,timestamp with time zone) to public;
grant execute on function app.slips(uuid,text,boolean) to public;
grant execute on function app.stories_whose_key_begins(uuid,uuid[],text,integer) to public;
grant execute on function app.stories_with(text[],integer) to muster_app;
grant execute on function app.story_keys(uuid,uuid,text,text[],text,text[],text[]) to public;
grant execute on function app.stream_positions(uuid[],uuid[]) to muster_app;
grant execute on function app.target_id() to public;
grant execute on function app.text_keys(uuid,text[]) to public;
grant execute on function app.title_keys(uuid,text,text[],text) to public;
grant execute on function app.token_reach(text[],uuid[],uuid,boolean) to public;
grant execute on function app.token_resource(bytea) to muster_app;
grant execute on function app.touch_tokens(bytea[]) to muster_app;
grant execute on function app.usage_cost(uuid,text,text,date,bigint,bigint,bigint) to public;
grant execute on function app.visible_projects(uuid,uuid,uuid) to public;
grant execute on function app.words(text) to public;
grant execute on function app.words_near(uuid,text) to public;
