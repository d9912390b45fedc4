-- outside a transaction: the index is built beside those who write.
-- Lists the licenses of one product, the newest first, even among many licenses of other products.
drop index concurrently if exists licenses.licenses_product;
create index concurrently licenses_product on licenses.licenses (product, id);
