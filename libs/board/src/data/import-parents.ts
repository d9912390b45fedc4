/** Finds and sets the parents of imported stories. */
import { type Db, orgFilter, type Query, sql } from '@muster/driver';
import { type NewParent, type ParentCandidate } from '../rules/import-parents.ts';
import { type ImportRow } from './imports.ts';

/**
 * Finds parents that this import may resolve: those of the items that it put last, and those of other
 * imports' items whose parent this import created.
 */
export const findParentCandidates = (db: Db, importRow: ImportRow): Promise<ParentCandidate[]> =>
  db.all(
    sql<ParentCandidate>`select i.external_id as "externalId", coalesce(i.parent, '') as parent, s.id as "storyId", s.parent_id as "currentParentId",
         s.version = i.record_version as "isUnchanged", t.id as "parentId", t.parent_id as "parentOfParent",
         exists (select from stories c where ${orgFilter('c')} and c.parent_id = s.id) as "hasChildren"
       from import_items i
       join stories s on s.org_id = i.org_id and s.id = i.record_id
       left join import_items b on b.org_id = i.org_id and b.project_id = i.project_id and b.provider = i.provider
         and b.kind = 'story' and b.external_id = i.parent
       left join stories t on t.org_id = b.org_id and t.id = b.record_id
       where ${orgFilter('i')} and i.project_id = ${importRow.project_id} and i.provider = ${importRow.provider} and i.kind = 'story'
         and i.parent is not null and (i.import_id = ${importRow.id} or b.made_by = ${importRow.id})
       order by i.external_id`,
  );

/**
 * Sets the parents. A story that was unchanged since its import stays so, because its noted version grows
 * with it. Stories of an archive keep the version and time that they have there.
 */
export function setParents(
  { project_id: projectId, provider }: ImportRow,
  parents: readonly NewParent[],
  at: string,
): Query<unknown>[] {
  const ids = parents.map(({ storyId }) => storyId);
  const setParent = sql.part`parent_id = w.parent_id`;
  const changes =
    provider === 'muster' ? setParent : sql.part`${setParent}, version = s.version + 1, updated_at = ${at}`;
  const write = sql`update stories s set ${changes}
       from unnest(${ids}::uuid[], ${parents.map(({ parentId }) => parentId)}::uuid[]) w (story_id, parent_id)
       where ${orgFilter('s')} and s.id = w.story_id`;
  if (provider === 'muster') return [write];
  return [
    sql`update import_items i set record_version = i.record_version + 1
       from stories s
       where ${orgFilter('i')} and i.project_id = ${projectId} and i.provider = ${provider} and i.kind = 'story'
         and i.record_id = any (${ids}::uuid[]) and s.org_id = i.org_id and s.id = i.record_id and s.version = i.record_version`,
    write,
  ];
}
