-- Functions for the failover to a standby that missed the last seconds of writes. Numbers assigned in those
-- seconds may be assigned again, although they are known outside. See docs/decisions/backups.md.

-- Makes the first epochs of units and locks whose rows were also lost start beyond the lost ones. Called by
-- the owner of the tables, for the whole installation at the same time, before the services start.
create or replace function app.begin_epochs_beyond(skipped int) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  kept record;
begin
  for kept in
    select a.attrelid::regclass as in_table, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as text
    from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where (a.attrelid, a.attname) in (('leases'::regclass, 'epoch'), ('lock_counters'::regclass, 'fencing_token'))
  loop
    execute format('alter table %s alter column %I set default %s', kept.in_table, kept.name,
      substring(kept.text from '\d+')::bigint + skipped);
  end loop;
end $$;
revoke all on function app.begin_epochs_beyond(int) from public;

-- Skips the lost numbers of one organization. Lease holders keep their leases, but no longer by their tokens:
-- each acquires its lease once more and continues. The streams come last, as in every write.
create or replace function app.go_beyond_loss(org uuid, skipped_epochs int, skipped_numbers bigint) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update executions e set epoch = e.epoch + skipped_epochs from leases l
    where e.org_id = org and l.org_id = org and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held' and l.epoch = e.epoch;
  update executions e set last_event_seq = e.last_event_seq + skipped_epochs
    where e.org_id = org and e.state <> 'completed';
  update leases l set epoch = l.epoch + skipped_epochs where l.org_id = org;
  update inbox_streams i set last_seq = i.last_seq + skipped_epochs where i.org_id = org;
  update lock_counters c set fencing_token = c.fencing_token + skipped_epochs where c.org_id = org;
  update streams s set lost_after = s.activity, lost_until = s.activity + skipped_numbers,
      activity = s.activity + skipped_numbers, audit_lost_after = s.audit, audit = s.audit + skipped_numbers
    where s.org_id = org;
end $$;
revoke all on function app.go_beyond_loss(uuid, int, bigint) from public;
grant execute on function app.go_beyond_loss(uuid, int, bigint) to muster_operator;
