/**
 * The code under review of the stories that an execution works on: its own story, or those of its group. Lock
 * order: stories before leases.
 */
import { type Db, orgFilter, type Query, sql } from '@muster/driver';
import { type CodeUnderReview, noReportedCode } from '@muster/contract';
import { storyIdsOfExecutionSql } from './targets.ts';

interface StoryCode {
  readonly storyId: string;
  readonly code: CodeUnderReview;
}

/**
 * Locks the stories. A verdict or a move to done then comes before or after this change of their code, never
 * at the same time.
 */
export async function lockCodeUnderReview(db: Db, executionId: string): Promise<StoryCode[]> {
  const rows = await db.all(
    sql<{ id: string; code: CodeUnderReview | null }>`select s.id, s.code from stories s
       where ${orgFilter('s')} and s.id in (${storyIdsOfExecutionSql(executionId)})
       order by s.id for no key update of s`,
  );
  return rows.map(({ id, code }) => ({ storyId: id, code: code ?? noReportedCode }));
}

/** Reads the code under review of these stories, which are already locked. */
export async function readCodeUnderReview(db: Db, storyIds: readonly string[]): Promise<StoryCode[]> {
  const rows = await db.all(
    sql<{
      id: string;
      code: CodeUnderReview | null;
    }>`select s.id, s.code from stories s where ${orgFilter('s')} and s.id = any (${storyIds}::uuid[]) order by s.id`,
  );
  return rows.map(({ id, code }) => ({ storyId: id, code: code ?? noReportedCode }));
}

/** Changes the code under review of locked stories, and returns the result for all of them. */
export function changeCodeUnderReview(
  db: Db,
  stories: readonly StoryCode[],
  change: (code: CodeUnderReview) => CodeUnderReview,
): CodeUnderReview[] {
  const changed = stories.map(({ storyId, code }) => ({ id: storyId, was: code, code: change(code) }));
  const news = changed.filter(({ was, code }) => code !== was).map(({ id, code }) => ({ id, code }));
  if (news.length > 0) db.deferToCommit(updateCodesUnderReview(news));
  return changed.map(({ code }) => code);
}

/**
 * Returns the statement that writes the given codes under review. It keeps the versions of the stories,
 * because a change of the code is not an edit of the story.
 */
const updateCodesUnderReview = (
  codes: readonly { readonly id: string; readonly code: CodeUnderReview }[],
): Query<unknown> =>
  sql`update stories s set code = c.code from jsonb_to_recordset(${JSON.stringify(codes)}::jsonb) c (id uuid, code jsonb)
     where ${orgFilter('s')} and s.id = c.id`;
