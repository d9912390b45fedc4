-- What became of issuers when they were looked at last, and whose word of an address counts.

-- Whether an address counts of which the issuer does not say that it was verified. It speaks for proven domains alone.
alter table identity_providers add column trusts_addresses boolean not null default false;
-- When a worker last asked the issuer what it offers, and what was wrong; null where nothing was.
alter table identity_providers add column checked_at timestamptz(3);
alter table identity_providers add column problem text check (length(problem) between 1 and 500);
call app.open_table('identity_providers', 'muster_door', 'select (trusts_addresses)');

