-- A UUIDv7 of this moment, for rows that only a statement knows how many there are of.
create or replace function app.new_id(moment timestamptz) returns uuid
language sql volatile parallel safe as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from moment) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$$;

-- Both take the rows of the counts in the order of their key, so that no two statements wait for each other.
create or replace function app.count_unread() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into notification_counts as c (org_id, member_id, kind, project_id, unread, changes)
    select f.org_id, f.member_id, f.kind, f.project_id, count(*), 1
    from fresh f where f.in_inbox and f.read_at is null
    group by f.org_id, f.member_id, f.kind, f.project_id
    order by f.org_id, f.member_id, f.kind, coalesce(f.project_id, f.org_id)
    on conflict (org_id, member_id, kind, place_id) do update set unread = c.unread + excluded.unread, changes = c.changes + 1;
  return null;
end $$;

create or replace function app.count_read() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  with marked as (
    select f.org_id, f.member_id, f.kind, coalesce(f.project_id, f.org_id) as place_id, count(*) as n
    from fresh f join was w on w.org_id = f.org_id and w.id = f.id
    where f.in_inbox and f.read_at is not null and w.read_at is null
    group by 1, 2, 3, 4),
  locked as materialized (
    select c.org_id, c.member_id, c.kind, c.place_id, m.n
    from notification_counts c join marked m using (org_id, member_id, kind, place_id)
    order by c.org_id, c.member_id, c.kind, c.place_id for no key update of c)
  update notification_counts c set unread = c.unread - l.n, changes = c.changes + 1 from locked l
    where c.org_id = l.org_id and c.member_id = l.member_id and c.kind = l.kind and c.place_id = l.place_id;
  return null;
end $$;

create or replace trigger notifications_counted after insert on notifications
  referencing new table as fresh for each statement execute function app.count_unread();
create or replace trigger notifications_recounted after update on notifications
  referencing old table as was new table as fresh for each statement execute function app.count_read();
