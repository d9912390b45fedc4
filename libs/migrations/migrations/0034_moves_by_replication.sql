-- contract of 0014_nodes: moves are made by logical replication, and note no rows.
drop table app.changed_rows;
-- contract of 0014_nodes: the function that noted them.
drop function if exists app.note_changed_row();
-- contract of 0014_nodes: app.guard_leaving_row is in its place.
drop function if exists app.spare_closed_row();
