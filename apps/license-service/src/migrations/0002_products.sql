-- Products: one service may sell several programs with separate keys, plans, orders and signing keys.
create table licenses.products (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  -- The first five symbols of its license keys.
  key_prefix text not null unique check (key_prefix ~ '^[0-9A-HJKMNP-TV-Z]{5}$'),
  created_at timestamptz(3) not null default clock_timestamp()
);
insert into licenses.products (name, key_prefix) values ('default', 'MSTR1');
grant select on licenses.products to muster_licenses;

alter table licenses.plans add column product text not null default 'default' references licenses.products;
alter table licenses.licenses add column product text not null default 'default' references licenses.products;
alter table licenses.signing_keys add column product text not null default 'default' references licenses.products;

-- Two products may have plans with the same name and licenses with the same order reference.
alter table licenses.plans drop constraint plans_pkey;
alter table licenses.plans add primary key (product, name);
drop index licenses.licenses_order;
create unique index licenses_order on licenses.licenses (product, order_ref, order_line) where order_ref is not null;
