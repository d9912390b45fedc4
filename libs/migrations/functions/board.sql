-- Maintains stories.blocked_by, oldest first, including when a blocker is deleted and its rows are removed
-- with it. That deletion runs as the owner, to whom forced row-level security shows no rows, so the function
-- runs as muster_door. It then counts as a change of the story; any other change is part of a write that
-- counts itself.
create or replace function app.keep_blocked_by() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  is_gone constant boolean := tg_op = 'DELETE'
    and not exists (select 1 from stories b where b.org_id = old.org_id and b.id = old.blocker_id);
begin
  update stories s
    set blocked_by = array(
        select b.blocker_id from story_blockers b where b.org_id = s.org_id and b.story_id = s.id order by b.blocker_id),
      version = s.version + is_gone::int,
      updated_at = case when is_gone then now() else s.updated_at end
    where s.org_id = coalesce(new.org_id, old.org_id) and s.id = coalesce(new.story_id, old.story_id);
  return null;
end $$;
call app.hand_over('app.keep_blocked_by()', 'muster_door');
create or replace trigger story_blockers_kept after insert or delete on story_blockers
  for each row execute function app.keep_blocked_by();

-- Maintains the counts of columns, epics and canceled stories, so that no reader ever counts a board. It
-- writes little: both columns of a move in one statement, and an epic only if its counts change. The move
-- from backlog to ready changes none. The triggers have no WHEN, since Postgres parses and plans the
-- condition again for each statement, which took 13 of the 166 µs of a story's update. Counting row by row is
-- cheapest for the single stories of most writes. Changing the same counter n times in one transaction costs
-- n², however (10,000 stories: 7 s). A bulk write therefore sets muster.counts and counts the stories itself,
-- for the rest of its transaction.
create or replace function app.count_stories() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  left_epic int;
  left_done int;
  joined_epic int;
  joined_done int;
begin
  if tg_op = 'UPDATE' and old.column_id is not distinct from new.column_id and old.status = new.status
      and old.epic_id is not distinct from new.epic_id then
    return null;
  end if;
  if coalesce(current_setting('muster.counts', true), '') = 'by hand' then return null; end if;
  left_epic := (old.epic_id is not null and old.status <> 'canceled')::int;
  left_done := (old.epic_id is not null and old.status = 'done')::int;
  joined_epic := (new.epic_id is not null and new.status <> 'canceled')::int;
  joined_done := (new.epic_id is not null and new.status = 'done')::int;
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
create or replace trigger stories_counted_in after insert on stories for each row
  execute function app.count_stories();
create or replace trigger stories_counted_out after delete on stories for each row
  execute function app.count_stories();
create or replace trigger stories_recounted after update on stories for each row
  execute function app.count_stories();
