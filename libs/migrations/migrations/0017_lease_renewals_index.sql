-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists leases_looked_at;
create index concurrently leases_looked_at on leases (due_at) where state = 'held' and not expiry_noted;
