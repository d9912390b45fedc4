-- Comments that an import wrote say so: the person who ran the import, and the tracker that the comment comes from.
alter table comments
  add column imported_by jsonb,
  add column imported_from text,
  add check ((imported_by is null) = (imported_from is null));
update comments c set imported_by = i.begun_by, imported_from = i.provider
from import_items t
join imports i on i.org_id = t.org_id and i.id = t.made_by
where t.kind = 'comment' and c.org_id = t.org_id and c.id = t.record_id;
