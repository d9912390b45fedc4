-- What an entry says besides, where its target may be gone by the time that it is read.
alter table audit add column details jsonb check (jsonb_typeof(details) = 'object' and octet_length(details::text) <= 65536);
-- What a person lets in is said whole in the entry.
call app.open_table('audit', 'muster_door', 'insert (details)');
