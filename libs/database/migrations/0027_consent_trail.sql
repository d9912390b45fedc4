-- What a person lets in stands in the organization's audit, whose entries are numbered by its stream.
call app.open_table('streams', 'muster_door', 'update (audit)');
