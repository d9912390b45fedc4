/** The stories of a column, all at once. */
import { type Db, type Query, sqlQuery } from '@muster/database';

/** Locks all stories of a locked column; their ids from top to bottom. */
export async function lockStoriesIn(db: Db, orgId: string, columnId: string): Promise<string[]> {
  const stories = await db.all(
    sqlQuery<{ id: string; rank: string }>(
      `select s.id, s.rank from stories s
       where s.org_id = $1 and s.column_id = $2
         and s.project_id = (select c.project_id from board_columns c where c.org_id = $1 and c.id = $2)
       order by s.id for no key update`,
      [orgId, columnId],
    ),
  );
  return stories.sort((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ id }) => id);
}

/** The rank of the last story of a locked column. */
export async function findLastRank(db: Db, orgId: string, columnId: string): Promise<string | null> {
  const last = await db.find(
    sqlQuery<{ rank: string }>(
      `select s.rank from stories s
       where s.org_id = $1 and s.column_id = $2
         and s.project_id = (select c.project_id from board_columns c where c.org_id = $1 and c.id = $2)
       order by s.rank desc limit 1`,
      [orgId, columnId],
    ),
  );
  return last?.rank ?? null;
}

/** Puts locked stories into another column of their status, at these ranks. The columns' counts are the caller's. */
export const moveStories = (
  orgId: string,
  columnId: string,
  storyIds: readonly string[],
  ranks: readonly string[],
  at: string,
): Query<unknown> =>
  sqlQuery(
    `update stories s set column_id = $2, rank = m.rank, updated_at = $3, version = s.version + 1
     from unnest($4::uuid[], $5::text[]) m (id, rank) where s.org_id = $1 and s.id = m.id`,
    [orgId, columnId, at, storyIds, ranks],
  );

/** So many stories go well within the time that a statement has, whatever hangs on them. */
export const storiesPerDelete = 2_000;

/** Removes some of a project's stories, with all that hangs on them. Nothing counts them any more. */
export const deleteStoriesOf = (orgId: string, projectId: string): Query<unknown> =>
  sqlQuery(
    `with gone as (select s.id from stories s where s.org_id = $1 and s.project_id = $2 order by s.id limit $3 for update)
     delete from stories s using gone g where s.org_id = $1 and s.id = g.id`,
    [orgId, projectId, storiesPerDelete],
  );
