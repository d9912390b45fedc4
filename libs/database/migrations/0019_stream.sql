-- How often the unread of a member went up or down, so that a stream sees that an inbox changed also where as many were
-- read as came. Kept by the triggers that keep `unread`.
alter table notification_counts add column changes bigint not null default 0;

-- Those who wait are told when to look, and of nothing else.
call app.open_table('notification_counts', 'muster_door', 'select (org_id, member_id, changes)');
call app.open_table('streams', 'muster_door', 'select (audit)');
