-- Whose trace asked for it, in W3C's words (traceparent), where traces are made; the transaction says so in a setting, so
-- that whatever writes a row need not. Null for all rows that are there: the default is looked at once.
alter table outbox add column trace_parent text default nullif(current_setting('muster.trace_parent', true), '');

-- The relay takes it along to the queues.
grant select (trace_parent) on outbox to muster_worker;
