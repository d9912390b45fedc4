/** Finds and deletes the records that an import created, to revert it. */
import { type Db, orgFilter, type Query, sql } from '@muster/driver';
import { type ImportItemKind, type ImportRow } from './imports.ts';
import { removeParentFromChildren } from './stories.ts';

/** A story that an import created. `touched` is true if another call changed the story since. */
export interface CreatedStory {
  readonly id: string;
  readonly externalId: string;
  readonly number: number;
  readonly touched: boolean;
}

/** Locks the stories that the import created, and reads after the locks which of them were changed since. */
export async function lockCreatedStories(db: Db, importRow: ImportRow): Promise<CreatedStory[]> {
  const [, stories] = await Promise.all([
    db.all(
      sql`select s.id from stories s join import_items i on ${orgFilter('i')} and i.made_by = ${importRow.id} and i.kind = 'story' and i.record_id = s.id
         where ${orgFilter('s')} order by s.id for update of s`,
    ),
    db.all(
      sql<CreatedStory>`select s.id, i.external_id as "externalId", s.number,
           s.version <> i.record_version
           or exists (select from comments c left join import_items k on k.org_id = c.org_id and k.record_id = c.id and k.kind = 'comment'
             where ${orgFilter('c')} and c.story_id = s.id and k.record_version is distinct from c.version)
           or exists (select from comment_reactions r join comments c on c.org_id = r.org_id and c.id = r.comment_id
             where ${orgFilter('r')} and c.story_id = s.id and r.created_at > i.created_at)
           or exists (select from assignments a
             where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = s.id and a.updated_at > i.created_at)
           or exists (select from story_reviewers v where ${orgFilter('v')} and v.story_id = s.id and v.imported_by is null)
           or exists (select from delivery_group_stories g where ${orgFilter('g')} and g.story_id = s.id)
           or exists (select from executions e where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id) as touched
         from import_items i join stories s on s.org_id = i.org_id and s.id = i.record_id
         where ${orgFilter('i')} and i.made_by = ${importRow.id} and i.kind = 'story' order by s.number`,
    ),
  ]);
  return stories;
}

/** Deletes the records of a table that the import created and nobody changed since, with the notes about them. */
const deleteUnchanged = (
  kind: ImportItemKind,
  table: 'prompts' | 'views',
  { id }: ImportRow,
  deletesForOrganization: boolean,
): Query<unknown> =>
  sql`with gone as (delete from ${sql.word(table)} t using import_items i where ${orgFilter('t')} and ${orgFilter('i')} and i.made_by = ${id}
         and i.kind = ${kind} and i.record_id = t.id and i.record_version = t.version
         and (${deletesForOrganization} or t.project_id is not null) returning t.id)
     delete from import_items i using gone where ${orgFilter('i')} and i.kind = ${kind} and i.record_id = gone.id`;

/**
 * Deletes stories with their records. A later import takes over the facts of the project again. Then deletes the epics that the import created, if they are unchanged and
 * empty and were not assigned since, unchanged prompts and views of the import, and the notes about all of them.
 * Contracts stay, because published versions are never deleted. Prompts and views of the organization are deleted only if
 * `deletesForOrganization` is true. It writes the board's counts itself, because the triggers
 * would take quadratic time (board.sql).
 */
export function deleteImportedStories(
  importRow: ImportRow,
  storyIds: readonly string[],
  deletesForOrganization: boolean,
): Query<unknown>[] {
  const { project_id: projectId } = importRow;
  const epics = sql.part`select e.id from epics e join import_items i on ${orgFilter('i')} and i.made_by = ${importRow.id} and i.kind = 'epic'
      and i.record_id = e.id and i.record_version = e.version
    where ${orgFilter('e')} and not exists (select from stories s where ${orgFilter('s')} and s.epic_id = e.id)
      and not exists (select from assignments a where ${orgFilter('a')} and a.target_type = 'epic' and a.target_id = e.id and a.updated_at > i.created_at)`;
  return [
    sql`delete from import_items i where ${orgFilter('i')} and i.project_id = ${projectId} and (
         i.kind = 'project' and i.import_id = ${importRow.id} or
         i.kind = 'comment' and i.record_id in (select c.id from comments c where ${orgFilter('c')} and c.story_id = any (${storyIds}::uuid[]))
         or i.kind = 'reviewer' and i.record_id in (select r.id from story_reviewers r where ${orgFilter('r')} and r.story_id = any (${storyIds}::uuid[]))
         or i.kind = 'attachment' and i.record_id in (select a.id from attachments a where ${orgFilter('a')} and a.story_id = any (${storyIds}::uuid[])))`,
    sql`delete from assignments where ${orgFilter()} and target_type = 'story' and target_id = any (${storyIds}::uuid[])`,
    removeParentFromChildren(storyIds),
    sql`delete from stories where ${orgFilter()} and id = any (${storyIds}::uuid[])`,
    sql`delete from import_items i where ${orgFilter('i')} and i.project_id = ${projectId} and i.kind in ('story', 'assignment') and i.record_id = any (${storyIds}::uuid[])`,
    sql`with gone as (delete from epics where ${orgFilter()} and id in (${epics}) returning id),
         unassigned as (delete from assignments a using gone where ${orgFilter('a')} and a.target_type = 'epic' and a.target_id = gone.id)
       delete from import_items i using gone where ${orgFilter('i')} and i.project_id = ${projectId} and i.kind in ('epic', 'assignment') and i.record_id = gone.id`,
    deleteUnchanged('prompt', 'prompts', importRow, deletesForOrganization),
    deleteUnchanged('view', 'views', importRow, deletesForOrganization),
    sql`update board_columns c set story_count = (select count(*) from stories s where ${orgFilter('s')} and s.project_id = c.project_id and s.column_id = c.id)
       where ${orgFilter('c')} and c.project_id = ${projectId}`,
    sql`update epics e set
         story_count = (select count(*) from stories s where ${orgFilter('s')} and s.epic_id = e.id and s.status <> 'canceled'),
         done_count = (select count(*) from stories s where ${orgFilter('s')} and s.epic_id = e.id and s.status = 'done')
       where ${orgFilter('e')} and e.project_id = ${projectId}`,
    sql`update project_counters k set canceled_stories =
         (select count(*) from stories s where ${orgFilter('s')} and s.project_id = k.project_id and s.status = 'canceled')
       where ${orgFilter('k')} and k.project_id = ${projectId}`,
  ];
}
