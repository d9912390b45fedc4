/**
 * The parents of stories. A story's parent is another story of its project, without a parent of its own. Calls
 * that set a parent lock the project's counters first, so that two of them cannot nest stories more deeply.
 */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type StoryStatus } from '@muster/contract';
import { type ApiError, type Caller } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';
import { notInProjectError } from './elsewhere.ts';
import { type toStoryEventSubject } from './stories.ts';

/** A story that a call names as the parent of another one. */
interface NamedParent {
  readonly id: string;
  readonly project_id: string;
  readonly parent_id: string | null;
}

/** Finds the named story, in any project. */
export const findNamedParent = (db: Db, ref: string): Promise<NamedParent | undefined> =>
  db.find(
    sql<NamedParent>`select s.id, s.project_id, s.parent_id from stories s
       where ${orgFilter('s')} and s.id = ${storyIdSql(ref)}`,
  );

/** The maximum number of children whose keys an error lists. */
const maxListedChildren = 20;

/** Lists the keys of the first children of a story. */
export const listChildKeys = async (db: Db, storyId: IdOrSql): Promise<string[]> => {
  const rows = await db.all(
    sql<{ key: string }>`select p.key || '-' || s.number as key
       from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
       where ${orgFilter('s')} and s.parent_id = ${storyId} order by s.number limit ${sql.literal(maxListedChildren)}`,
  );
  return rows.map(({ key }) => key);
};

/** Returns the named parent. Throws if it is not a story of this project. */
export async function requireParentInProject(
  context: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  ref: string,
  parent: NamedParent | undefined,
): Promise<NamedParent> {
  if (parent?.project_id === projectId) return parent;
  throw await notInProjectError(context, projectId, 'stories', { ref, path: 'parentId' });
}

/**
 * Throws if the story would be its own parent, or if the parent has a parent. `storyId` is null for a new
 * story.
 */
export function requireTopLevelParent(
  refuse: (reason: 'nested_parent', details: Record<string, unknown>) => ApiError,
  parent: NamedParent,
  storyId: string | null,
): void {
  if (parent.id === storyId || parent.parent_id !== null)
    throw refuse('nested_parent', { parentId: parent.id, parentOfParent: parent.parent_id });
}

/** Locks the children of a story, ordered by ID, and reads what events say about them. */
export async function lockChildren(
  db: Db,
  storyId: string,
): Promise<Parameters<typeof toStoryEventSubject>[0][]> {
  const [, children] = await Promise.all([
    db.all(
      sql`select c.id from stories c where ${orgFilter('c')} and c.parent_id = ${storyId} order by c.id for no key update`,
    ),
    db.all(
      sql<
        Parameters<typeof toStoryEventSubject>[0]
      >`select c.id, c.project_id, p.key as project_key, c.number, c.title
         from stories c join projects p on ${orgFilter('p')} and p.id = c.project_id
         where ${orgFilter('c')} and c.parent_id = ${storyId} order by c.number`,
    ),
  ]);
  return children;
}

/** An open parent whose children are all finished. */
interface ParentToClose {
  readonly id: string;
  readonly key: string;
  readonly column_id: string;
}

/**
 * Finds the parent of a story that this transaction finishes or removes from the parent. The parent is returned
 * only if it is open, no other child is open, and at least one child is done. Transactions that finish or remove
 * the last two children of a parent are serialized, so that one of them sees the other.
 */
export async function findParentToClose(
  db: Db,
  child: { readonly id: string; readonly parent_id: string | null; readonly status: StoryStatus },
): Promise<ParentToClose | undefined> {
  const others = sql.part`from stories c where ${orgFilter('c')} and c.parent_id = s.id and c.id <> ${child.id}`;
  const [, parent] = await Promise.all([
    db.all(sql`select pg_advisory_xact_lock(hashtextextended('children ' || ${child.parent_id}::text, 0))`),
    db.find(
      sql<ParentToClose>`select s.id, p.key || '-' || s.number as key, l.id as column_id
        from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
          join board_columns l on ${orgFilter('l')} and l.id = s.column_id
        where ${orgFilter('s')} and s.id = ${child.parent_id}::uuid and s.completed_at is null
          and not exists (select ${others} and c.completed_at is null)
          and (${child.status === 'done'} or exists (select ${others} and c.status = 'done'))`,
    ),
  ]);
  return parent;
}
