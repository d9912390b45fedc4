-- Organizations on other servers than this one, its nodes (docs/decisions/scale.md). This server is their home: it knows
-- where each of them is. Where there are no nodes, these tables are empty.

-- Those that take no new organizations, home perhaps among them.
create table app.closed_nodes (
  node text primary key,
  closed_at timestamptz(3) not null default now()
);

-- Where organizations are that are not here, or are on the way. One without a row is here.
create table app.org_places (
  org_id uuid primary key,
  node text not null,
  -- It is being moved there; no call waits for that but for a moment at the end.
  moving_to text check (moving_to <> node),
  -- It was moved from there, and its rows there are still to be removed.
  left_from text check (left_from <> node),
  changed_at timestamptz(3) not null default now()
);

-- The slugs of organizations on nodes; an organization that changes its slug has two for a moment.
create table app.claimed_slugs (
  slug text primary key,
  org_id uuid not null references app.org_places (org_id) on delete cascade
);
create index claimed_slugs_org on app.claimed_slugs (org_id);

-- On each node, while an organization leaves it: which rows were written since, and when it takes no more writes.
create table app.changed_rows (
  org_id uuid not null,
  table_name text not null,
  key jsonb not null
);
create index changed_rows_org on app.changed_rows (org_id);
create table app.closed_orgs (
  org_id uuid primary key,
  closed_at timestamptz(3) not null default now()
);
grant select, insert, delete on app.org_places to muster_door;
grant select on app.closed_nodes to muster_door;
grant select, insert, delete on app.closed_nodes to muster_operator;
grant select on app.org_places to muster_operator;
grant select, insert, delete on app.claimed_slugs to muster_door;
grant insert on app.changed_rows to muster_door;
grant select on app.closed_orgs to muster_door, muster_worker;

-- Accounts, their sessions and passkeys are at home, and copied to every node, so that calls of organizations find them there.
-- The other servers that copies go to: at home the nodes, at a node home.
create table sign_in.peers (
  name text primary key
);
-- What changed since it was sent there; one that changes meanwhile gets another version, and stays. What ends lets a person in no
-- more: it goes first.
create table sign_in.unsent (
  peer text not null references sign_in.peers (name) on delete cascade,
  kind text not null,
  id uuid not null,
  version uuid not null default gen_random_uuid(),
  is_end boolean not null default false,
  primary key (peer, kind, id)
);
create index unsent_ends on sign_in.unsent (peer, kind, id) where is_end;
grant select, insert, update, delete on sign_in.peers, sign_in.unsent to muster_sign_in;
grant select on sign_in.peers to muster_door;
grant select, insert, update on sign_in.unsent to muster_door;
grant select (id) on sign_in.passkeys to muster_door;

-- On every server: by which tokens operators see its rows from another one, where the token itself is. An operator who comes by one was
-- let in there a moment before, or is not asked for.
create table app.platform_passes (
  hash bytea primary key check (length(hash) = 32),
  token_id uuid not null,
  expires_at timestamptz(3) not null
);
grant select on app.platform_passes to muster_platform;
grant select, insert, update, delete on app.platform_passes to muster_operator;

-- An organization without an epoch is elsewhere from now on, so each that is here has one. As the door, which sees all of them.
set local role muster_door;
insert into rights_epochs (org_id) select id from orgs on conflict do nothing;
set local role none;
