-- A comment can mention agents and be directed to one.
alter table comments add column agent_mentions uuid[] not null default '{}';
-- There is no foreign key, because agents are retired and never deleted.
alter table comments add column directed_to_agent uuid;
