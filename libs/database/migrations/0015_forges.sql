-- Forges: what they say themselves, apart from what members and agents report of them.

-- Who says it. A member's or an agent's token reports; only what a forge signed is verified.
alter table forge_observations add column trust text not null default 'reported' check (trust in ('reported', 'verified'));

-- When the forge itself said that the work was merged; merged_at is by any word.
alter table executions add column merge_verified_at timestamptz(3);
