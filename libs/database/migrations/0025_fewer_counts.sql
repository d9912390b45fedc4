-- As in 0004, with fewer writes: both columns of a move in one statement, in the order of their ids, and an epic only
-- where what it counts changes. From backlog to ready it stays as it was.
create or replace function app.count_stories() returns trigger
language plpgsql set search_path = pg_catalog, public as $$
declare
  left_epic int := (old.epic_id is not null and old.status <> 'canceled')::int;
  left_done int := (old.epic_id is not null and old.status = 'done')::int;
  joined_epic int := (new.epic_id is not null and new.status <> 'canceled')::int;
  joined_done int := (new.epic_id is not null and new.status = 'done')::int;
begin
  if old.column_id is distinct from new.column_id then
    update board_columns set story_count = story_count + case when id = new.column_id then 1 else -1 end
      where org_id = coalesce(new.org_id, old.org_id) and id in (old.column_id, new.column_id);
  end if;
  if (old.status = 'canceled') is distinct from (new.status = 'canceled') and
     (old.status = 'canceled' or new.status = 'canceled') then
    update project_counters
      set canceled_stories = canceled_stories + case when new.status = 'canceled' then 1 else -1 end
      where org_id = coalesce(new.org_id, old.org_id) and project_id = coalesce(new.project_id, old.project_id);
  end if;
  if old.epic_id is not distinct from new.epic_id then
    if joined_epic <> left_epic or joined_done <> left_done then
      update epics set story_count = story_count + joined_epic - left_epic, done_count = done_count + joined_done - left_done
        where org_id = new.org_id and id = new.epic_id;
    end if;
    return null;
  end if;
  if left_epic = 1 then
    update epics set story_count = story_count - 1, done_count = done_count - left_done
      where org_id = old.org_id and id = old.epic_id;
  end if;
  if joined_epic = 1 then
    update epics set story_count = story_count + 1, done_count = done_count + joined_done
      where org_id = new.org_id and id = new.epic_id;
  end if;
  return null;
end $$;
