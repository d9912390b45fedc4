-- Until when an agent is known to wait for its inbox (app.note_listeners). Cards show that no runner is listening.
alter table inbox_streams add column listens_until timestamptz(3);
call app.open_table('inbox_streams', 'muster_door', 'select, insert (org_id, recipient_id, last_seq, listens_until), update (listens_until)');
