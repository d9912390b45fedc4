-- The notification whose mail and pushes carry this one, itself or an earlier one of the same author, and when they go out.
alter table notifications add column sent_with uuid;
alter table notifications add column sends_at timestamptz(3);
