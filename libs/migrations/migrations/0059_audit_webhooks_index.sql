-- outside a transaction: the index is built beside those who write.
-- Finds webhooks that follow the audit.
drop index concurrently if exists webhooks_following_audit;
create index concurrently webhooks_following_audit on webhooks (org_id, audit_cursor_seq) include (worker_until, id)
  where audit_cursor_seq is not null and paused_at is null and not is_full and deleted_at is null;
