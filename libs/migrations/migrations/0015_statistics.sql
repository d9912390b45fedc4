-- How many values there are of what lists are narrowed by. ANALYZE looks at 30,000 rows: where one value is in all of these, it
-- takes the column for one with a single value, and a plan that is made without values then walks the whole order of the
-- list for a value that few rows have (docs/decisions/performance.md). Of members any organization may have one that has
-- all the work: a hundred says that they differ.

create procedure app.count_values(kept regclass, field name, values_there_are int)
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  part regclass;
begin
  execute format('alter table %s alter column %I set (n_distinct = %s, n_distinct_inherited = %s)',
    kept, field, values_there_are, values_there_are);
  for part in select i.inhrelid::regclass from pg_inherits i where i.inhparent = kept loop
    execute format('alter table %s alter column %I set (n_distinct = %s)', part, field, values_there_are);
  end loop;
  -- Until it is analyzed again the planner goes by what was found before.
  execute format('analyze %s (%I)', kept, field);
end $$;
revoke all on procedure app.count_values(regclass, name, int) from public;

call app.count_values('members', 'role', 4);
call app.count_values('access_requests', 'state', 3);
call app.count_values('epics', 'status', 3);
call app.count_values('assignments', 'member_id', 100);
call app.count_values('assignments', 'agent_id', 100);
call app.count_values('story_reviewers', 'member_id', 100);
call app.count_values('story_reviewers', 'agent_id', 100);
call app.count_values('executions', 'state', 6);
call app.count_values('delivery_groups', 'state', 5);
call app.count_values('notifications', 'kind', 15);
call app.count_values('webhook_deliveries', 'state', 3);
call app.count_values('activity', 'member_id', 100);
call app.count_values('activity', 'agent_id', 100);
call app.count_values('audit', 'operation', 100);
call app.count_values('audit', 'member_id', 100);
call app.count_values('audit', 'agent_id', 100);
