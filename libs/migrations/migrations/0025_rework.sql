-- Why work that was handed in has to be taken up again: {note, by, at, source, specVersion, headSha}; null where it has not.
alter table executions add column rework jsonb;
