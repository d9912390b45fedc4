-- A story that loses its epic or its blocker because that is deleted has changed (functions/let-go.sql, functions/board.sql).
call app.open_table('stories', 'muster_door', 'update (version, updated_at)');
