-- A standby that took over may not have heard of the last seconds. What was numbered in them is not numbered again: the streams
-- go on beyond (functions/after-loss.sql). Whoever stands in between has seen what is not there any more.
alter table streams add column lost_after bigint, add column lost_until bigint,
  add constraint streams_lost_check check (lost_after < lost_until);
call app.open_table('leases', 'muster_operator', 'select, update (epoch)');
call app.open_table('lock_counters', 'muster_operator', 'select, update (fencing_token)');
call app.open_table('executions', 'muster_operator', 'select, update (epoch, last_event_seq)');
grant usage on schema app to muster_operator;
