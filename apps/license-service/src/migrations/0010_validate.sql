-- Validates the constraints of 0008 and 0009.
alter table licenses.license_events validate constraint license_events_kind_check;
alter table licenses.licenses validate constraint licenses_meters_check;
alter table licenses.licenses validate constraint licenses_updates_check;
alter table licenses.plans validate constraint plans_meters_check;
alter table licenses.plans validate constraint plans_updates_check;
alter table licenses.products validate constraint products_downloads_url_check;
