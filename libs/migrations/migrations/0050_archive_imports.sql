-- Imports of an archive that another installation exported (docs/guides/importing.md).
alter table imports drop constraint imports_provider_check;
-- contract of 0006_contracts: it allows every provider that was allowed before, and one more.
alter table imports
  add constraint imports_provider_check
    check (provider in ('github', 'gitlab', 'jira', 'linear', 'other', 'muster')) not valid,
  -- True if the project had no stories when the import began. The import then keeps numbers and places of stories.
  add column into_empty_project boolean not null default false;
alter table imports validate constraint imports_provider_check;
alter table import_items drop constraint import_items_kind_check;
-- contract of 0006_contracts: it allows every kind that was allowed before, and more.
alter table import_items add constraint import_items_kind_check check (
  kind in ('story', 'epic', 'comment', 'project', 'column', 'member', 'agent', 'reviewer', 'assignment', 'attachment', 'contract', 'prompt', 'view')
) not valid;
alter table import_items validate constraint import_items_kind_check;

-- Records of members that an import wrote say so, as comments do: who ran the import, and where the record comes from.
-- Verdicts that were imported show the history of a story. They never count as reviews of it.
alter table stories
  add column imported_by jsonb,
  add column imported_from text;
alter table story_specs
  add column imported_by jsonb,
  add column imported_from text;
alter table story_reviewers
  add column imported_by jsonb,
  add column imported_from text;
alter table attachments
  add column imported_by jsonb,
  add column imported_from text;
alter table prompts
  add column imported_by jsonb,
  add column imported_from text;
alter table contract_versions
  add column imported_by jsonb,
  add column imported_from text;
