-- A member asks for a role in a project, also in a private one; a lead of it decides.
create table access_requests (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  -- As asked for; once approved, as given.
  role text not null check (role in ('lead', 'contributor', 'viewer')),
  message text,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  resolved_by jsonb,
  resolved_at timestamptz(3),
  note text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  check ((state = 'pending') = (resolved_at is null) and (resolved_at is null) = (resolved_by is null))
);
-- Has this member asked and not been answered? There is at most one such request.
create unique index access_requests_pending on access_requests (org_id, project_id, member_id) where state = 'pending';
-- Who asked to come into a project? Newest first, all of them or those in one state.
create index access_requests_project on access_requests (org_id, project_id, id desc);
create index access_requests_state on access_requests (org_id, project_id, state, id desc);
-- What did a member ask for?
create index access_requests_member on access_requests (org_id, member_id);

-- The people of a project that everybody sees, by name; only as many are read as a page shows.
create index members_by_name on members (org_id, name, id) where status = 'active';
-- Who leads every project by the role in the organization?
create index members_leading on members (org_id, id) where status = 'active' and role in ('owner', 'admin');

call app.guard_table('access_requests');
-- The door finds the project of a request.
grant select on access_requests to muster_door;
create policy the_door on access_requests to muster_door using (true);
