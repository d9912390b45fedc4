-- outside a transaction: the index is built beside those who write.
-- For the licenses of one product, the newest first, where there are many of others.
drop index concurrently if exists licenses.licenses_product;
create index concurrently licenses_product on licenses.licenses (product, id);
