-- What people granted to clients by OAuth: as which agent of theirs, in which projects, to do what, for how long. The tokens
-- that such a client gets are rows of tokens, whose grant_id is the connection.
create table connections (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  -- Never the person: a client acts as an agent of theirs.
  agent_id uuid not null,
  client_id text not null check (length(client_id) between 1 and 2048),
  -- As the client calls itself.
  client_name text not null check (length(client_name) between 1 and 120),
  -- The host that vouches for the client; null for one that registered itself.
  client_host text check (length(client_host) between 1 and 255),
  -- What its tokens are for, as RFC 8707 names it.
  resource text not null check (length(resource) between 1 and 2048),
  scopes text[] not null check (scopes <@ array['read', 'write', 'admin'] and cardinality(scopes) > 0),
  -- Null: every project that the member may see; else only these.
  project_ids uuid[],
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (expires_at <= created_at + interval '90 days')
);
-- A grant is found before its organization is known.
create index connections_by_id on connections (id);
-- Those of a member, newest first, and how many of them are alive; those of an agent.
create index connections_of_member on connections (org_id, member_id, id);
create index connections_of_agent on connections (org_id, agent_id, id);
call app.guard_table('connections');
call app.open_table('connections', 'muster_worker', 'select (expires_at, revoked_at)');
call app.open_table('connections', 'muster_operator', 'select, update (revoked_at)');
-- The door gives the client its tokens, which it does not let outlive the connection.
call app.open_table('connections', 'muster_door',
  'select, insert (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids, expires_at), update (revoked_at)');
call app.open_table('tokens', 'muster_door', 'update (scopes, prefix, last_four)');
