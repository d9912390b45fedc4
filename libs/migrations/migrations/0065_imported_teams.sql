-- Imports of an archive bring its teams (docs/guides/importing.md).
alter table import_items drop constraint import_items_kind_check;
-- contract of 0050_archive_imports: it allows every kind that was allowed before, and one more.
alter table import_items add constraint import_items_kind_check check (
  kind in ('story', 'epic', 'comment', 'project', 'column', 'member', 'agent', 'team', 'reviewer', 'assignment', 'attachment', 'contract', 'prompt', 'view')
) not valid;
alter table import_items validate constraint import_items_kind_check;
