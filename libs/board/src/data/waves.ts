/** Checks the filters of the waves of a project, and reads the cards of given stories. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type StoryCard } from '@muster/contract';
import { withPathOnNotFound } from '@muster/runtime';
import { type CardRow, selectWithCardColumns, toCard } from './story-cards.ts';
import { storySummaries } from './stories.ts';

/** Throws 404 with the parameter's path if the record is not in the project. */
export const requireInProject = (
  db: Db,
  table: 'epics' | 'plans',
  projectId: IdOrSql,
  { id, path }: { readonly id: string; readonly path: string },
): Promise<unknown> =>
  withPathOnNotFound(
    path,
    db.get(
      sql`select r.id from ${sql.word(table)} r where ${orgFilter('r')} and r.project_id = ${projectId} and r.id = ${id}`,
    ),
  );

export async function findCardsById(db: Db, ids: readonly string[]): Promise<Map<string, StoryCard>> {
  if (ids.length === 0) return new Map();
  const rows = await db.all(
    sql<CardRow>`${selectWithCardColumns(
      sql.part`select ${storySummaries.list}, p.key as project_key
        from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
        where ${orgFilter('s')} and s.id = any (${ids}::uuid[])`,
      sql.part`q.id`,
    )}`,
  );
  return new Map(rows.map((row) => [row.id, toCard(row)]));
}
