-- The token that a token was made with, unless that is a session's; it ends with that one (functions/tokens.sql). Tokens that were
-- made before have none. There is no foreign key: a parent may be purged with its member, and has ended its children by then.
alter table tokens add column parent_id uuid;
