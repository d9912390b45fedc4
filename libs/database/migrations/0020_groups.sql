-- Whoever coordinates a group is told what others did to it and its stories, from the organization's activity: its
-- numbers have no gaps and follow the order of commits, so a place in it says exactly what was told.
alter table delivery_groups add column told_seq bigint not null default 0;

-- What happened to a group itself; for its stories there is activity_story.
alter table activity add column group_id uuid generated always as
  (case when subject ->> 'type' = 'delivery_group' then (subject ->> 'id')::uuid end) stored;
-- The stream of a delivery group.
create index activity_group on activity (org_id, group_id, seq desc) where group_id is not null;
