-- The line of code that a comment is about.
alter table comments add column code_anchor jsonb;
