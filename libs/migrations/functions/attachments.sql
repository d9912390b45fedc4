-- Requests the deletion of an attachment's file, in the transaction that deletes the attachment. The file of an
-- unfinished upload may still arrive for as long as its address is valid (libs/attachments/src/rules/addresses.ts).
create or replace function app.request_file_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into app.file_deletions (key, due_at)
    values (old.org_id || '/' || old.id,
      case old.state when 'pending' then greatest(now(), old.created_at + interval '2 hours') else now() end)
    on conflict do nothing;
  return null;
end $$;
call app.hand_over('app.request_file_deletion()', 'muster_door');
create or replace trigger attachments_deleted after delete on attachments for each row
  execute function app.request_file_deletion();

-- Returns the id that all services must find in their folder of files. The first service states it.
create or replace function app.agree_on_file_folder(own_id uuid) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into app.file_folder (id) values (own_id) on conflict do nothing;
  return (select f.id from app.file_folder f);
end $$;
call app.hand_over('app.agree_on_file_folder(uuid)', 'muster_door');
grant execute on function app.agree_on_file_folder(uuid) to muster_app;
