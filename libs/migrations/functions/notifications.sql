-- Creates a UUIDv7 of this moment, for rows whose number only the statement knows.
create or replace function app.new_id(moment timestamptz) returns uuid
language sql volatile parallel safe as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from moment) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$$;

-- Maintains the counts of an inbox row by row. A write of many notifications then takes three times as long,
-- and marking n notifications of a member as read takes n². Such a statement sets muster.unread and updates
-- the counts itself, for the rest of its transaction. It locks the rows of the counts in the order of their
-- key, so that no two statements wait for each other.
create or replace function app.count_unread() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.in_inbox and new.read_at is null and coalesce(current_setting('muster.unread', true), '') <> 'by hand' then
    insert into notification_counts as c (org_id, member_id, kind, project_id, unread, changes)
      values (new.org_id, new.member_id, new.kind, new.project_id, 1, 1)
      on conflict (org_id, member_id, kind, place_id) do update set unread = c.unread + 1, changes = c.changes + 1;
  end if;
  return null;
end $$;
create or replace trigger notifications_counted after insert on notifications
  for each row execute function app.count_unread();

-- The key of a count needs a value for notifications without a project. A generated column would do, but Postgres
-- refuses updates of a table with such a key while an organization moves to another server.
create or replace function app.place_count() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  new.place_id := coalesce(new.project_id, new.org_id);
  return new;
end $$;
create or replace trigger notification_counts_placed before insert on notification_counts
  for each row execute function app.place_count();

create or replace function app.count_read() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.in_inbox and new.read_at is not null and old.read_at is null
      and coalesce(current_setting('muster.unread', true), '') <> 'by hand' then
    update notification_counts c set unread = c.unread - 1, changes = c.changes + 1
      where c.org_id = new.org_id and c.member_id = new.member_id and c.kind = new.kind
        and c.place_id = coalesce(new.project_id, new.org_id);
  end if;
  return null;
end $$;
create or replace trigger notifications_recounted after update on notifications
  for each row execute function app.count_read();
