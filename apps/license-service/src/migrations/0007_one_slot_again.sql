-- Replaces the function of 0001. A machine with two slots now keeps only one. It got the second one while two processes had
-- different peppers, so that one of them took it for a new machine. That row could neither move to the current pepper nor
-- be released.
create or replace function licenses.hold_slot(license uuid, place int, is_new boolean, hash bytea, hash_before bytea,
  pepper text, hint text, at timestamptz, certified_until timestamptz) returns int
language plpgsql volatile set search_path = pg_catalog as $$
begin
  if is_new then
    -- Never a row that holds: the one that came first without the lock would lose its slot to the one that came last.
    delete from licenses.license_machines m
      where m.license_id = license and (m.slot = place or m.machine_hash in (hash, hash_before))
        and not exists (select from licenses.held_machines h where h.license_id = license and h.slot = m.slot);
    insert into licenses.license_machines (license_id, slot, machine_hash, pepper_id, machine_hint, bound_at,
      last_seen_at, offline_until)
      values (license, place, hash, pepper, hint, at, at, certified_until);
  else
    delete from licenses.license_machines m
      where m.license_id = license and m.slot <> place and m.machine_hash in (hash, hash_before);
    update licenses.license_machines m set machine_hash = hash, pepper_id = pepper, machine_hint = hint,
      last_seen_at = at, offline_until = greatest(m.offline_until, certified_until)
      where m.license_id = license and m.slot = place;
  end if;
  return place;
end $$;
