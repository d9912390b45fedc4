-- Stories can be part of another story, list what their work touches, and have a due date.
alter table stories
  add column parent_id uuid,
  add column touches text[] not null default '{}',
  add column due_date date;
-- The children of a story that is deleted first lose their parent.
alter table stories
  add constraint stories_parent_fkey foreign key (org_id, project_id, parent_id)
    references stories (org_id, project_id, id) not valid;
alter table stories validate constraint stories_parent_fkey;
-- A removal of a project finds the children of its stories.
call app.open_table('stories', 'muster_worker', 'select (parent_id)');

-- The external id of the item that an imported item is a part of. It is resolved when the import is finished.
alter table import_items add column parent text;
