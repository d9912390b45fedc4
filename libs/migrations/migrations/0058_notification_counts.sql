-- While an organization moves, Postgres refuses every update of a table whose primary key has a generated column, because
-- the publication of the move does not contain it. app.place_count sets the column instead.
alter table notification_counts alter column place_id drop expression;
