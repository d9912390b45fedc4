-- outside a transaction: the indexes are built beside those who write.
-- The stories of an organization in the order of their changes, and those with a due date in its order.
drop index concurrently if exists stories_of_org_updated;
create index concurrently stories_of_org_updated on stories (org_id, updated_at desc, id desc);
drop index concurrently if exists stories_of_org_due;
create index concurrently stories_of_org_due on stories (org_id, due_date, id) where due_date is not null;
