-- Releases of programs: which versions a license may download, and the signed addresses of their files.

-- The update policy, such as {"for": 31536000, "maxVersion": "2", "afterExpiry": true}. That of a license replaces that of its
-- plan, and null means the one of the plan. 0010 validates the constraints.
alter table licenses.licenses
  add column updates jsonb,
  add constraint licenses_updates_check check (jsonb_typeof(updates) = 'object' and octet_length(updates::text) <= 512) not valid;
alter table licenses.plans
  add column updates jsonb not null default '{}',
  add constraint plans_updates_check check (jsonb_typeof(updates) = 'object' and octet_length(updates::text) <= 512) not valid;
alter table licenses.products
  -- The address of files, such as https://downloads.example.com/{file}?expires={expires}&signature={signature}.
  add column downloads_url text,
  add constraint products_downloads_url_check check (char_length(downloads_url) <= 1024) not valid,
  -- A new version changes the secret that signs addresses.
  add column download_key_version int not null default 0;

create table licenses.releases (
  id uuid primary key,
  product text not null references licenses.products,
  -- A version by Semantic Versioning, and its numbers.
  version text not null check (char_length(version) <= 100),
  major int not null,
  minor int not null,
  patch int not null,
  channel text not null check (channel in ('stable', 'beta', 'alpha')),
  notes_url text check (char_length(notes_url) <= 1024),
  -- The files: [{"name": "app.zip", "platform": "linux-x64", "size": 1, "sha256": "…"}].
  artifacts jsonb not null check (jsonb_typeof(artifacts) = 'array' and octet_length(artifacts::text) <= 16384),
  published_at timestamptz(3) not null default clock_timestamp(),
  -- A yanked release is not offered anymore.
  yanked_at timestamptz(3),
  yank_reason text check (char_length(yank_reason) <= 512),
  unique (product, version)
);
-- Versions that differ only in their build metadata have no order.
create unique index releases_precedence on licenses.releases (product, split_part(version, '+', 1));
-- Lists the releases of a product, the newest first.
create index releases_product on licenses.releases (product, id);
-- Finds the latest versions of a channel.
create index releases_latest on licenses.releases (product, channel, major desc, minor desc, patch desc, id desc)
  where yanked_at is null;

-- The releases that a license may download now. All statements use this view.
create view licenses.entitled_releases as
  select l.id as license_id, r.*
  from licenses.licenses l
  left join licenses.plans p on p.product = l.product and p.name = l.plan
  cross join lateral (select coalesce(l.updates, p.updates, '{}') as policy) u
  cross join lateral (select string_to_array(u.policy->>'maxVersion', '.')::int[] as max_version) m
  join licenses.releases r on r.product = l.product
  where l.status = 'active' and r.yanked_at is null
    and (l.expires_at is null or l.expires_at > clock_timestamp()
      or (u.policy->'afterExpiry' = 'true' and r.published_at <= l.expires_at))
    and (u.policy->>'for' is null or r.published_at <= coalesce(l.activated_at, clock_timestamp())
      + make_interval(secs => (u.policy->>'for')::float8))
    and (m.max_version is null or (array[r.major, r.minor, r.patch])[1:cardinality(m.max_version)] <= m.max_version);

grant select on licenses.releases, licenses.entitled_releases to muster_licenses, muster_license_operators;
grant update (updates) on licenses.licenses to muster_license_operators;
