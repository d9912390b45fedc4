/** The projects that a call names. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { isUuid, pathNotFound } from '@muster/contract';
import { type Caller, projectsVisibleTo } from '@muster/runtime';

/**
 * Returns the ids of the named projects in the given order, without duplicates. Throws 404 unless the caller
 * may see all of them.
 */
export async function resolveProjectIds(db: Db, caller: Caller, refs: readonly string[]): Promise<string[]> {
  if (refs.length === 0) return [];
  const wanted = refs.map((ref) => (isUuid(ref) ? ref : ref.toUpperCase()));
  const rows = await db.all(
    sql<{ id: string; key: string }>`select p.id, p.key from projects p
       join ${projectsVisibleTo(caller)} v on v.project_id = p.id
       where ${orgFilter('p')}
         and (p.id = any (${wanted.filter(isUuid)}::uuid[]) or p.key = any (${wanted}::text[]))`,
  );
  const ids = new Map(rows.flatMap(({ id, key }) => [[id, id] as const, [key, id] as const]));
  return [
    ...new Set(
      wanted.map((ref, index) => {
        const id = ids.get(ref);
        if (id === undefined) throw pathNotFound(`projectIds.${index}`);
        return id;
      }),
    ),
  ];
}
