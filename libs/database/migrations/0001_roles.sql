-- The roles that everything else is granted to. They are the server's, not the database's, so they may exist.
--   muster_app   what the services run as: owns nothing, bypasses nothing, sees one organization at a time.
--   muster_operator  what the operators' command line runs as: all organizations, but only who is in them.
--   muster_door  owns the functions that let somebody in; it alone reads tokens and members across organizations.
--   muster_platform  owns the functions that show operators of the installation what is in all organizations.
do $$
declare wanted text;
begin
  foreach wanted in array array['muster_app', 'muster_operator', 'muster_door', 'muster_platform'] loop
    begin
      if not exists (select from pg_roles where rolname = wanted) then
        execute format('create role %I nologin', wanted);
      end if;
    exception when duplicate_object or unique_violation then null; -- another database of this server was faster
    end;
  end loop;
end $$;
-- Whoever migrates hands functions over to the door, and may run as the services do.
grant muster_app, muster_operator, muster_door, muster_platform to current_user;

create schema app;
grant usage on schema app to muster_app, muster_door, muster_platform;
grant usage on schema public to muster_app, muster_operator, muster_door, muster_platform;

-- The organization this transaction is in; null outside one, and then every policy hides every row.
create function app.org_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('muster.org_id', true), '')::uuid;
