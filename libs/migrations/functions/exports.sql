-- Requests the deletion of a part's file, in the transaction that deletes the part. A run of the job that was replaced
-- may still store a part that it began.
create or replace function app.request_part_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into app.file_deletions (key, due_at)
    values (old.org_id || '/' || old.id, case when old.size is null then now() + interval '1 hour' else now() end)
    on conflict do nothing;
  return null;
end $$;
call app.hand_over('app.request_part_deletion()', 'muster_door');
create or replace trigger export_parts_deleted after delete on export_parts for each row
  execute function app.request_part_deletion();

-- Returns the half of the key that signs exports.
create or replace function app.export_salt() returns uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select k.salt from app.export_key k;
$$;
call app.hand_over('app.export_salt()', 'muster_door');
grant execute on function app.export_salt() to muster_app;
