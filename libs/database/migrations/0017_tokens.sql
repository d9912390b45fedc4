-- Tokens and agents that their members make themselves.

-- How commands name an agent of one's own; one that is made without a slug is given one (functions/agents.sql). A name or a
-- slug that was used once stays that agent's: history names it.
alter table agents add column slug text;
-- It acts no more. Written once, and never taken back.
alter table agents add column retired_at timestamptz(3);
set local role muster_operator;
update agents a set slug = coalesce(
    nullif(trim(both '-' from left(regexp_replace(lower(a.name), '[^a-z0-9]+', '-', 'g'), 30)), ''), 'agent')
  || '-' || right(a.id::text, 6);
reset role;
alter table agents alter column slug set not null;
alter table agents add check (slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$');
-- Which agents does a member have, and which of them is called so?
create unique index agents_slug on agents (org_id, member_id, slug);
-- The agents of a member, newest first.
create index agents_member on agents (org_id, member_id, id);

-- What a token was made for: `api` is to be carried by a program.
alter table tokens add column kind text not null default 'api' check (kind in ('api'));
-- The first characters of the secret, by which people know it again; null where it was made before they were kept.
alter table tokens add column prefix text check (length(prefix) <= 20);
-- When its member was told that it ends soon.
alter table tokens add column warned_at timestamptz(3);
-- The tokens of a member, and those of an agent, newest first.
create index tokens_of_member on tokens (org_id, member_id, id);
-- contract of 0002_people: the index before begins with all that it had.
drop index tokens_member;
create index tokens_of_agent on tokens (org_id, agent_id, id) where agent_id is not null;
-- How many tokens of a member are alive?
create index tokens_alive on tokens (org_id, member_id, coalesce(expires_at, 'infinity'::timestamptz)) where revoked_at is null;
-- Which end soon, and nothing was said of it?
create index tokens_unwarned on tokens (expires_at) where revoked_at is null and warned_at is null;
call app.open_table('tokens', 'muster_worker', 'select (created_at, warned_at)');
