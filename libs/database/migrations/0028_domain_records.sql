-- Records of domains are looked for again and again. One that is gone counts for a while: a DNS may be moved or mended.

-- Since when the record of a proven domain is not found; null while it is.
alter table identity_provider_domains add column missing_since timestamptz(3);
-- A worker finds which providers to look at.
call app.open_table('identity_provider_domains', 'muster_worker', 'select (org_id, provider_id, proven_at)');
