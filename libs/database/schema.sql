-- Generated from the migrations by `npm run generate`, for reading. Nothing runs this file.

-- Tables

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
  at timestamp(3) with time zone not null default now()
);
create table public.agents (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table public.assignments (
  org_id uuid not null,
  target_type text not null,
  target_id uuid not null,
  project_id uuid not null,
  member_id uuid,
  agent_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
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
  request_id text not null
);
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
  anchor jsonb,
  resolved_at timestamp(3) with time zone,
  resolved_by jsonb,
  edited_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
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
create table public.idempotency_keys (
  org_id uuid not null,
  token_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  response text,
  created_at timestamp(3) with time zone not null default now()
);
create table public.members (
  org_id uuid not null,
  id uuid not null,
  email text not null,
  name text not null,
  handle text not null,
  role text not null,
  status text not null default 'active'::text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
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
  dead_at timestamp(3) with time zone
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
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
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
  upstream jsonb,
  created_by jsonb not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  version integer not null default 1
);
create table public.story_blockers (
  org_id uuid not null,
  project_id uuid not null,
  story_id uuid not null,
  blocker_id uuid not null
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
  created_at timestamp(3) with time zone not null default now()
);
create table public.streams (
  org_id uuid not null,
  activity bigint not null default 0,
  audit bigint not null default 0
);
create table public.subscriptions (
  org_id uuid not null,
  plan text not null,
  status text not null default 'active'::text,
  seats integer not null,
  current_period_end timestamp(3) with time zone,
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
  version integer not null default 1
);
create table public.tokens (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  agent_id uuid,
  name text not null,
  hash bytea not null,
  last_four text not null,
  scopes text[] not null,
  project_ids uuid[],
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone
);

-- Keys and checks

alter table activity add constraint activity_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table activity add constraint activity_pkey PRIMARY KEY (org_id, seq);
alter table agents add constraint agents_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table agents add constraint agents_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table agents add constraint agents_org_id_member_id_name_key UNIQUE (org_id, member_id, name);
alter table agents add constraint agents_pkey PRIMARY KEY (org_id, id);
alter table assignments add constraint assignments_check CHECK (((member_id IS NOT NULL) OR (agent_id IS NOT NULL)));
alter table assignments add constraint assignments_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table assignments add constraint assignments_pkey PRIMARY KEY (org_id, target_type, target_id);
alter table assignments add constraint assignments_target_type_check CHECK ((target_type = ANY (ARRAY['story'::text, 'epic'::text, 'delivery_group'::text])));
alter table audit add constraint audit_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table audit add constraint audit_outcome_check CHECK ((outcome = ANY (ARRAY['allowed'::text, 'denied'::text])));
alter table audit add constraint audit_pkey PRIMARY KEY (org_id, seq);
alter table board_columns add constraint board_columns_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table board_columns add constraint board_columns_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table board_columns add constraint board_columns_pkey PRIMARY KEY (org_id, id);
alter table board_columns add constraint board_columns_status_check CHECK ((status = ANY (ARRAY['backlog'::text, 'ready'::text, 'in_progress'::text, 'in_review'::text, 'done'::text])));
alter table board_columns add constraint board_columns_wip_limit_check CHECK ((wip_limit >= 1));
alter table comment_reactions add constraint comment_reactions_org_id_comment_id_fkey FOREIGN KEY (org_id, comment_id) REFERENCES comments(org_id, id) ON DELETE CASCADE;
alter table comment_reactions add constraint comment_reactions_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table comment_reactions add constraint comment_reactions_pkey PRIMARY KEY (org_id, comment_id, emoji, member_id);
alter table comments add constraint comments_check CHECK (((body IS NULL) = (deleted_at IS NOT NULL)));
alter table comments add constraint comments_kind_check CHECK ((kind = ANY (ARRAY['comment'::text, 'question'::text, 'decision'::text])));
alter table comments add constraint comments_org_id_directed_to_fkey FOREIGN KEY (org_id, directed_to) REFERENCES members(org_id, id);
alter table comments add constraint comments_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table comments add constraint comments_org_id_story_id_id_key UNIQUE (org_id, story_id, id);
alter table comments add constraint comments_org_id_story_id_parent_id_fkey FOREIGN KEY (org_id, story_id, parent_id) REFERENCES comments(org_id, story_id, id) ON DELETE CASCADE;
alter table comments add constraint comments_pkey PRIMARY KEY (org_id, id);
alter table epics add constraint epics_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table epics add constraint epics_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table epics add constraint epics_pkey PRIMARY KEY (org_id, id);
alter table epics add constraint epics_status_check CHECK ((status = ANY (ARRAY['open'::text, 'done'::text, 'canceled'::text])));
alter table idempotency_keys add constraint idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)));
alter table idempotency_keys add constraint idempotency_keys_org_id_token_id_fkey FOREIGN KEY (org_id, token_id) REFERENCES tokens(org_id, id) ON DELETE CASCADE;
alter table idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (org_id, token_id, operation, key);
alter table members add constraint members_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320)));
alter table members add constraint members_handle_check CHECK ((handle ~ '^[a-z0-9][a-z0-9-]{0,38}$'::text));
alter table members add constraint members_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table members add constraint members_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table members add constraint members_pkey PRIMARY KEY (org_id, id);
alter table members add constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])));
alter table members add constraint members_status_check CHECK ((status = ANY (ARRAY['active'::text, 'removed'::text])));
alter table orgs add constraint orgs_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table orgs add constraint orgs_pkey PRIMARY KEY (id);
alter table orgs add constraint orgs_slug_check CHECK ((slug ~ '^[a-z0-9-]{3,40}$'::text));
alter table orgs add constraint orgs_slug_key UNIQUE (slug);
alter table outbox add constraint outbox_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table outbox add constraint outbox_pkey PRIMARY KEY (org_id, id);
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
alter table projects add constraint projects_key_check CHECK ((key ~ '^[A-Z][A-Z0-9]{1,9}$'::text));
alter table projects add constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table projects add constraint projects_org_id_key_key UNIQUE (org_id, key);
alter table projects add constraint projects_origin_check CHECK ((origin = ANY (ARRAY['hosted'::text, 'converted'::text])));
alter table projects add constraint projects_pkey PRIMARY KEY (org_id, id);
alter table projects add constraint projects_visibility_check CHECK ((visibility = ANY (ARRAY['org'::text, 'private'::text])));
alter table stories add constraint stories_check CHECK (((column_id IS NULL) = (status = 'canceled'::text)));
alter table stories add constraint stories_org_id_project_id_column_id_fkey FOREIGN KEY (org_id, project_id, column_id) REFERENCES board_columns(org_id, project_id, id);
alter table stories add constraint stories_org_id_project_id_epic_id_fkey FOREIGN KEY (org_id, project_id, epic_id) REFERENCES epics(org_id, project_id, id) ON DELETE SET NULL (epic_id);
alter table stories add constraint stories_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id) ON DELETE CASCADE;
alter table stories add constraint stories_org_id_project_id_id_key UNIQUE (org_id, project_id, id);
alter table stories add constraint stories_org_id_project_id_number_key UNIQUE (org_id, project_id, number);
alter table stories add constraint stories_pkey PRIMARY KEY (org_id, id);
alter table stories add constraint stories_priority_check CHECK ((priority = ANY (ARRAY['none'::text, 'low'::text, 'medium'::text, 'high'::text, 'urgent'::text])));
alter table stories add constraint stories_status_check CHECK ((status = ANY (ARRAY['backlog'::text, 'ready'::text, 'in_progress'::text, 'in_review'::text, 'done'::text, 'canceled'::text])));
alter table stories add constraint stories_title_check CHECK (((length(title) >= 1) AND (length(title) <= 300)));
alter table story_blockers add constraint story_blockers_check CHECK ((story_id <> blocker_id));
alter table story_blockers add constraint story_blockers_org_id_project_id_blocker_id_fkey FOREIGN KEY (org_id, project_id, blocker_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table story_blockers add constraint story_blockers_org_id_project_id_story_id_fkey FOREIGN KEY (org_id, project_id, story_id) REFERENCES stories(org_id, project_id, id) ON DELETE CASCADE;
alter table story_blockers add constraint story_blockers_pkey PRIMARY KEY (org_id, story_id, blocker_id);
alter table story_selections add constraint story_selections_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table story_selections add constraint story_selections_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table story_selections add constraint story_selections_pkey PRIMARY KEY (org_id, member_id, device_id);
alter table story_specs add constraint story_specs_org_id_story_id_fkey FOREIGN KEY (org_id, story_id) REFERENCES stories(org_id, id) ON DELETE CASCADE;
alter table story_specs add constraint story_specs_pkey PRIMARY KEY (org_id, story_id, version);
alter table story_specs add constraint story_specs_version_check CHECK ((version >= 1));
alter table streams add constraint streams_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table streams add constraint streams_pkey PRIMARY KEY (org_id);
alter table subscriptions add constraint subscriptions_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_pkey PRIMARY KEY (org_id);
alter table subscriptions add constraint subscriptions_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'team'::text, 'enterprise'::text])));
alter table subscriptions add constraint subscriptions_seats_check CHECK ((seats >= 1));
alter table subscriptions add constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text])));
alter table team_members add constraint team_members_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table team_members add constraint team_members_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES teams(org_id, id) ON DELETE CASCADE;
alter table team_members add constraint team_members_pkey PRIMARY KEY (org_id, team_id, member_id);
alter table team_members add constraint team_members_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'member'::text])));
alter table teams add constraint teams_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table teams add constraint teams_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id) ON DELETE CASCADE;
alter table teams add constraint teams_pkey PRIMARY KEY (org_id, id);
alter table tokens add constraint tokens_check CHECK (((agent_id IS NULL) OR (expires_at <= (created_at + '90 days'::interval))));
alter table tokens add constraint tokens_hash_check CHECK ((length(hash) = 32));
alter table tokens add constraint tokens_hash_key UNIQUE (hash);
alter table tokens add constraint tokens_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120)));
alter table tokens add constraint tokens_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agents(org_id, id) ON DELETE CASCADE;
alter table tokens add constraint tokens_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE;
alter table tokens add constraint tokens_pkey PRIMARY KEY (org_id, id);
alter table tokens add constraint tokens_scopes_check CHECK ((scopes <@ ARRAY['read'::text, 'write'::text, 'admin'::text, 'platform'::text]));

-- Indexes

CREATE INDEX activity_agent ON public.activity USING btree (org_id, agent_id, seq DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX activity_member ON public.activity USING btree (org_id, member_id, seq DESC);
CREATE INDEX activity_project ON public.activity USING btree (org_id, project_id, seq DESC);
CREATE INDEX activity_story ON public.activity USING btree (org_id, story_id, seq DESC) WHERE (story_id IS NOT NULL);
CREATE INDEX assignments_agent ON public.assignments USING btree (org_id, agent_id, target_type, target_id);
CREATE INDEX assignments_member ON public.assignments USING btree (org_id, member_id, target_type, target_id);
CREATE INDEX audit_agent ON public.audit USING btree (org_id, agent_id, seq DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX audit_denied ON public.audit USING btree (org_id, seq DESC) WHERE (outcome = 'denied'::text);
CREATE INDEX audit_member ON public.audit USING btree (org_id, member_id, seq DESC);
CREATE INDEX audit_operation ON public.audit USING btree (org_id, operation, seq DESC);
CREATE INDEX board_columns_order ON public.board_columns USING btree (org_id, project_id, "position");
CREATE INDEX comments_replies ON public.comments USING btree (org_id, parent_id, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX comments_roots ON public.comments USING btree (org_id, story_id, id) WHERE (parent_id IS NULL);
CREATE INDEX epics_project ON public.epics USING btree (org_id, project_id, id);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX outbox_due ON public.outbox USING btree (dispatch_after) WHERE ((done_at IS NULL) AND (dead_at IS NULL));
CREATE INDEX project_members_member ON public.project_members USING btree (org_id, member_id);
CREATE INDEX project_teams_team ON public.project_teams USING btree (org_id, team_id);
CREATE INDEX stories_epic ON public.stories USING btree (org_id, epic_id) WHERE (epic_id IS NOT NULL);
CREATE INDEX stories_updated ON public.stories USING btree (org_id, project_id, updated_at DESC, id DESC);
CREATE INDEX story_blockers_blocker ON public.story_blockers USING btree (org_id, blocker_id);
CREATE INDEX story_selections_story ON public.story_selections USING btree (org_id, story_id, since);
CREATE INDEX team_members_member ON public.team_members USING btree (org_id, member_id);
CREATE INDEX tokens_member ON public.tokens USING btree (org_id, member_id);
CREATE UNIQUE INDEX members_email ON public.members USING btree (org_id, lower(email)) WHERE (status = 'active'::text);
CREATE UNIQUE INDEX members_handle ON public.members USING btree (org_id, handle);
CREATE UNIQUE INDEX members_one_owner ON public.members USING btree (org_id) WHERE ((role = 'owner'::text) AND (status = 'active'::text));
CREATE UNIQUE INDEX projects_local ON public.projects USING btree (org_id, local_project_id) WHERE (local_project_id IS NOT NULL);
CREATE UNIQUE INDEX stories_board ON public.stories USING btree (org_id, project_id, column_id, rank) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX stories_upstream ON public.stories USING btree (org_id, project_id, ((upstream ->> 'provider'::text)), ((upstream ->> 'externalId'::text))) WHERE (upstream IS NOT NULL);
CREATE UNIQUE INDEX teams_name ON public.teams USING btree (org_id, lower(name));

-- Functions

CREATE OR REPLACE FUNCTION app.claim_key(org uuid, token uuid, op text, wanted text, print bytea)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public'
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
CREATE OR REPLACE FUNCTION app.count_stories()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public'
AS $function$
declare
  was stories;
  is_now stories;
begin
  if tg_op <> 'INSERT' then was := old; end if;
  if tg_op <> 'DELETE' then is_now := new; end if;
  if was.column_id is distinct from is_now.column_id then
    update board_columns set story_count = story_count - 1 where org_id = was.org_id and id = was.column_id;
    update board_columns set story_count = story_count + 1 where org_id = is_now.org_id and id = is_now.column_id;
  end if;
  if (was.status = 'canceled') is distinct from (is_now.status = 'canceled') and
     (was.status = 'canceled' or is_now.status = 'canceled') then
    update project_counters
      set canceled_stories = canceled_stories + case when is_now.status = 'canceled' then 1 else -1 end
      where org_id = coalesce(is_now.org_id, was.org_id) and project_id = coalesce(is_now.project_id, was.project_id);
  end if;
  if was.epic_id is distinct from is_now.epic_id or was.status is distinct from is_now.status then
    if was.epic_id is not null and was.status <> 'canceled' then
      update epics set story_count = story_count - 1, done_count = done_count - (was.status = 'done')::int
        where org_id = was.org_id and id = was.epic_id;
    end if;
    if is_now.epic_id is not null and is_now.status <> 'canceled' then
      update epics set story_count = story_count + 1, done_count = done_count + (is_now.status = 'done')::int
        where org_id = is_now.org_id and id = is_now.epic_id;
    end if;
  end if;
  return null;
end $function$
;
alter function app.count_stories() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.counts_by_hand()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (COALESCE(current_setting('muster.counts'::text, true), ''::text) = 'by hand'::text)
;
alter function app.counts_by_hand() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.enter(token_hash bytea, target_kind text, target_ref text, needs_org integer, needs_project integer, OUT at timestamp with time zone, OUT org_role text, OUT project_id uuid, OUT archived boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
AS $function$
declare
  org uuid;
  member uuid;
  bound uuid[];
  sees text;
  project_rank int;
begin
  select t.org_id, t.member_id, t.project_ids, m.role, now()
    into org, member, bound, org_role, at
    from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
  if not found then
    raise exception 'no such token' using errcode = 'MU401';
  end if;
  perform set_config('muster.org_id', org::text, true);
  if array_position(array['viewer', 'member', 'admin', 'owner'], org_role) < needs_org then
    raise exception 'role in the organization is too low' using errcode = 'MU403';
  end if;
  if target_kind is null then return; end if;

  case target_kind
    when 'project' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p where p.org_id = org and p.id = target_ref::uuid;
    when 'projectKey' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p where p.org_id = org and p.key = upper(target_ref);
    when 'story' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
        where s.org_id = org and s.id = target_ref::uuid;
    when 'storyKey' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p join stories s on s.org_id = p.org_id and s.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and s.number = split_part(target_ref, '-', 2)::int;
    when 'column' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from board_columns c join projects p on p.org_id = c.org_id and p.id = c.project_id
        where c.org_id = org and c.id = target_ref::uuid;
    when 'epic' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from epics e join projects p on p.org_id = e.org_id and p.id = e.project_id
        where e.org_id = org and e.id = target_ref::uuid;
    when 'comment' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id
        join projects p on p.org_id = s.org_id and p.id = s.project_id
        where c.org_id = org and c.id = target_ref::uuid;
  end case;
  if project_id is not null and (bound is null or project_id = any (bound)) then
    project_rank := app.given_rank(sees, org_role);
    -- Teams and direct membership are looked up only where they can make a difference.
    if project_rank is null or project_rank < needs_project then
      project_rank := app.project_rank(org, project_id, sees, member, org_role);
    end if;
  end if;
  if project_rank is null then
    raise exception 'nothing there to be seen' using errcode = 'MU404';
  end if;
  if project_rank < needs_project then
    raise exception 'role in the project is too low' using errcode = 'MU403';
  end if;
  perform set_config('muster.project_id', project_id::text, true);
end $function$
;
alter function app.enter(bytea,text,text,integer,integer) owner to muster_door;
CREATE OR REPLACE FUNCTION app.given_rank(visibility text, member_role text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (member_role = ANY (ARRAY['owner'::text, 'admin'::text])) THEN 3 WHEN (visibility = 'org'::text) THEN CASE member_role WHEN 'member'::text THEN 2 WHEN 'viewer'::text THEN 1 ELSE NULL::integer END ELSE NULL::integer END
;
alter function app.given_rank(text,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.identify(token_hash bytea)
 RETURNS TABLE(token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], member_name text, agent_name text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
BEGIN ATOMIC
 SELECT t.id,
     t.org_id,
     t.member_id,
     t.agent_id,
     t.scopes,
     m.name,
     a.name
    FROM (((tokens t
      JOIN members m ON (((m.org_id = t.org_id) AND (m.id = t.member_id) AND (m.status = 'active'::text))))
      JOIN orgs o ON (((o.id = t.org_id) AND (o.deleted_at IS NULL))))
      LEFT JOIN agents a ON (((a.org_id = t.org_id) AND (a.id = t.agent_id))))
   WHERE ((t.hash = identify.token_hash) AND (t.revoked_at IS NULL) AND ((t.expires_at IS NULL) OR (t.expires_at > now())));
END
;
alter function app.identify(bytea) owner to muster_door;
CREATE OR REPLACE FUNCTION app.keep_blocked_by()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
AS $function$
begin
  update stories s
    set blocked_by = array(
      select b.blocker_id from story_blockers b where b.org_id = s.org_id and b.story_id = s.id order by b.blocker_id)
    where s.org_id = coalesce(new.org_id, old.org_id) and s.id = coalesce(new.story_id, old.story_id);
  return null;
end $function$
;
alter function app.keep_blocked_by() owner to muster_door;
CREATE OR REPLACE FUNCTION app.org_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('muster.org_id'::text, true), ''::text))::uuid
;
alter function app.org_id() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.project_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('muster.project_id'::text, true), ''::text))::uuid
;
alter function app.project_id() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.project_rank(org uuid, project uuid, visibility text, member uuid, member_role text)
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN GREATEST(app.given_rank(visibility, member_role), (SELECT array_position(ARRAY['viewer'::text, 'contributor'::text, 'lead'::text], pm.role) AS array_position FROM project_members pm WHERE ((pm.org_id = project_rank.org) AND (pm.project_id = project_rank.project) AND (pm.member_id = project_rank.member))), (SELECT max(array_position(ARRAY['viewer'::text, 'contributor'::text, 'lead'::text], pt.role)) AS max FROM (project_teams pt JOIN team_members tm ON (((tm.org_id = pt.org_id) AND (tm.team_id = pt.team_id)))) WHERE ((pt.org_id = project_rank.org) AND (pt.project_id = project_rank.project) AND (tm.member_id = project_rank.member))))
;
alter function app.project_rank(uuid,uuid,text,uuid,text) owner to the_migrator;
CREATE OR REPLACE FUNCTION app.revoke_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public'
AS $function$
begin
  update tokens set revoked_at = now() where org_id = new.id and revoked_at is null;
  return null;
end $function$
;
alter function app.revoke_tokens() owner to the_migrator;
CREATE OR REPLACE FUNCTION app.touch_tokens(hashes bytea[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
BEGIN ATOMIC
 UPDATE tokens SET last_used_at = now()
   WHERE ((tokens.hash = ANY (touch_tokens.hashes)) AND ((tokens.last_used_at IS NULL) OR (tokens.last_used_at < (now() - '00:01:00'::interval))));
END
;
alter function app.touch_tokens(bytea[]) owner to muster_door;
CREATE OR REPLACE FUNCTION app.visible_projects(org uuid, member uuid, token uuid)
 RETURNS TABLE(project_id uuid, project_rank integer)
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT p.id,
     r.rank
    FROM (((members m
      JOIN tokens t ON (((t.org_id = m.org_id) AND (t.id = visible_projects.token))))
      JOIN projects p ON ((p.org_id = m.org_id)))
      CROSS JOIN LATERAL ( SELECT app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) AS rank) r)
   WHERE ((m.org_id = visible_projects.org) AND (m.id = visible_projects.member) AND (r.rank IS NOT NULL) AND ((t.project_ids IS NULL) OR (p.id = ANY (t.project_ids))));
END
;
alter function app.visible_projects(uuid,uuid,uuid) owner to the_migrator;

-- Triggers

CREATE TRIGGER orgs_deleted AFTER UPDATE OF deleted_at ON public.orgs FOR EACH ROW WHEN ((new.deleted_at IS NOT NULL)) EXECUTE FUNCTION app.revoke_tokens();
CREATE TRIGGER stories_counted_in AFTER INSERT ON public.stories FOR EACH ROW WHEN ((NOT app.counts_by_hand())) EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER stories_counted_out AFTER DELETE ON public.stories FOR EACH ROW WHEN ((NOT app.counts_by_hand())) EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER stories_recounted AFTER UPDATE ON public.stories FOR EACH ROW WHEN ((((old.column_id IS DISTINCT FROM new.column_id) OR (old.status IS DISTINCT FROM new.status) OR (old.epic_id IS DISTINCT FROM new.epic_id)) AND (NOT app.counts_by_hand()))) EXECUTE FUNCTION app.count_stories();
CREATE TRIGGER story_blockers_kept AFTER INSERT OR DELETE ON public.story_blockers FOR EACH ROW EXECUTE FUNCTION app.keep_blocked_by();

-- Row security

alter table activity enable row level security, force row level security;
alter table agents enable row level security, force row level security;
alter table assignments enable row level security, force row level security;
alter table audit enable row level security, force row level security;
alter table board_columns enable row level security, force row level security;
alter table comment_reactions enable row level security, force row level security;
alter table comments enable row level security, force row level security;
alter table epics enable row level security, force row level security;
alter table idempotency_keys enable row level security, force row level security;
alter table members enable row level security, force row level security;
alter table orgs enable row level security, force row level security;
alter table outbox enable row level security, force row level security;
alter table project_counters enable row level security, force row level security;
alter table project_members enable row level security, force row level security;
alter table project_teams enable row level security, force row level security;
alter table projects enable row level security, force row level security;
alter table stories enable row level security, force row level security;
alter table story_blockers enable row level security, force row level security;
alter table story_selections enable row level security, force row level security;
alter table story_specs enable row level security, force row level security;
alter table streams enable row level security, force row level security;
alter table subscriptions enable row level security, force row level security;
alter table team_members enable row level security, force row level security;
alter table teams enable row level security, force row level security;
alter table tokens enable row level security, force row level security;

-- Policies

create policy own_organization on activity for all to muster_app using (org_id = app.org_id());
create policy operators on agents for all to muster_operator using true;
create policy own_organization on agents for all to muster_app using (org_id = app.org_id());
create policy the_door on agents for all to muster_door using true;
create policy own_organization on assignments for all to muster_app using (org_id = app.org_id());
create policy operators on audit for all to muster_operator using true;
create policy own_organization on audit for all to muster_app using (org_id = app.org_id());
create policy own_organization on board_columns for all to muster_app using (org_id = app.org_id());
create policy the_door on board_columns for all to muster_door using true;
create policy own_organization on comment_reactions for all to muster_app using (org_id = app.org_id());
create policy own_organization on comments for all to muster_app using (org_id = app.org_id());
create policy the_door on comments for all to muster_door using true;
create policy own_organization on epics for all to muster_app using (org_id = app.org_id());
create policy the_door on epics for all to muster_door using true;
create policy own_organization on idempotency_keys for all to muster_app using (org_id = app.org_id());
create policy operators on members for all to muster_operator using true;
create policy own_organization on members for all to muster_app using (org_id = app.org_id());
create policy the_door on members for all to muster_door using true;
create policy operators on orgs for all to muster_operator using true;
create policy own_organization on orgs for all to muster_app using (id = app.org_id());
create policy the_door on orgs for all to muster_door using true;
create policy own_organization on outbox for all to muster_app using (org_id = app.org_id());
create policy own_organization on project_counters for all to muster_app using (org_id = app.org_id());
create policy own_organization on project_members for all to muster_app using (org_id = app.org_id());
create policy the_door on project_members for all to muster_door using true;
create policy own_organization on project_teams for all to muster_app using (org_id = app.org_id());
create policy the_door on project_teams for all to muster_door using true;
create policy operators on projects for all to muster_operator using true;
create policy own_organization on projects for all to muster_app using (org_id = app.org_id());
create policy the_door on projects for all to muster_door using true;
create policy own_organization on stories for all to muster_app using (org_id = app.org_id());
create policy the_door on stories for all to muster_door using true;
create policy own_organization on story_blockers for all to muster_app using (org_id = app.org_id());
create policy the_door on story_blockers for all to muster_door using true;
create policy own_organization on story_selections for all to muster_app using (org_id = app.org_id());
create policy own_organization on story_specs for all to muster_app using (org_id = app.org_id());
create policy operators on streams for all to muster_operator using true;
create policy own_organization on streams for all to muster_app using (org_id = app.org_id());
create policy operators on subscriptions for all to muster_operator using true;
create policy own_organization on subscriptions for all to muster_app using (org_id = app.org_id());
create policy own_organization on team_members for all to muster_app using (org_id = app.org_id());
create policy the_door on team_members for all to muster_door using true;
create policy own_organization on teams for all to muster_app using (org_id = app.org_id());
create policy operators on tokens for all to muster_operator using true;
create policy own_organization on tokens for all to muster_app using (org_id = app.org_id());
create policy the_door on tokens for all to muster_door using true;

-- Grants

grant delete, insert, select on story_specs to muster_app;
grant delete, insert, select, update on agents to muster_app;
grant delete, insert, select, update on assignments to muster_app;
grant delete, insert, select, update on board_columns to muster_app;
grant delete, insert, select, update on comment_reactions to muster_app;
grant delete, insert, select, update on comments to muster_app;
grant delete, insert, select, update on epics to muster_app;
grant delete, insert, select, update on idempotency_keys to muster_app;
grant delete, insert, select, update on members to muster_app;
grant delete, insert, select, update on outbox to muster_app;
grant delete, insert, select, update on project_counters to muster_app;
grant delete, insert, select, update on project_members to muster_app;
grant delete, insert, select, update on project_teams to muster_app;
grant delete, insert, select, update on projects to muster_app;
grant delete, insert, select, update on stories to muster_app;
grant delete, insert, select, update on story_blockers to muster_app;
grant delete, insert, select, update on story_selections to muster_app;
grant delete, insert, select, update on streams to muster_app;
grant delete, insert, select, update on subscriptions to muster_app;
grant delete, insert, select, update on team_members to muster_app;
grant delete, insert, select, update on teams to muster_app;
grant delete, insert, select, update on tokens to muster_app;
grant insert on audit to muster_operator;
grant insert, select on activity to muster_app;
grant insert, select on audit to muster_app;
grant insert, select, update on agents to muster_operator;
grant insert, select, update on members to muster_operator;
grant insert, select, update on orgs to muster_operator;
grant insert, select, update on streams to muster_operator;
grant insert, select, update on subscriptions to muster_operator;
grant insert, select, update on tokens to muster_operator;
grant select on agents to muster_door;
grant select on board_columns to muster_door;
grant select on comments to muster_door;
grant select on epics to muster_door;
grant select on kysely_migration to muster_app;
grant select on members to muster_door;
grant select on orgs to muster_door;
grant select on project_members to muster_door;
grant select on project_teams to muster_door;
grant select on projects to muster_door;
grant select on projects to muster_operator;
grant select on stories to muster_door;
grant select on story_blockers to muster_door;
grant select on team_members to muster_door;
grant select on tokens to muster_door;
grant select, update on orgs to muster_app;

-- Grants on functions

grant execute on function app.claim_key(uuid,uuid,text,text,bytea) to public;
grant execute on function app.count_stories() to public;
grant execute on function app.counts_by_hand() to public;
grant execute on function app.enter(bytea,text,text,integer,integer) to muster_app;
grant execute on function app.given_rank(text,text) to public;
grant execute on function app.identify(bytea) to muster_app;
grant execute on function app.org_id() to public;
grant execute on function app.project_id() to public;
grant execute on function app.project_rank(uuid,uuid,text,uuid,text) to public;
grant execute on function app.revoke_tokens() to public;
grant execute on function app.touch_tokens(bytea[]) to muster_app;
grant execute on function app.visible_projects(uuid,uuid,uuid) to public;
