/** The code of the stories that an execution works on: its own, or those of its group. Stories are locked before leases. */
import { type Db, of, type Query, sql } from '@muster/driver';
import { type CodeUnderReview, noCode } from '@muster/registry';
import { storiesOfExecution } from './targets.ts';

interface StoryCode {
  readonly storyId: string;
  readonly code: CodeUnderReview;
}

/** Locks the stories, so that a verdict or a move into done comes before this news of their code, or after it. */
export async function lockCode(db: Db, executionId: string): Promise<StoryCode[]> {
  const rows = await db.all(
    sql<{ id: string; code: CodeUnderReview | null }>`select s.id, s.code from stories s
       where ${of('s')} and s.id in (${storiesOfExecution(executionId)})
       order by s.id for no key update of s`,
  );
  return rows.map(({ id, code }) => ({ storyId: id, code: code ?? noCode }));
}

/** The code of these stories, which are locked already. */
export async function readCode(db: Db, storyIds: readonly string[]): Promise<StoryCode[]> {
  const rows = await db.all(
    sql<{
      id: string;
      code: CodeUnderReview | null;
    }>`select s.id, s.code from stories s where ${of('s')} and s.id = any (${storyIds}::uuid[]) order by s.id`,
  );
  return rows.map(({ id, code }) => ({ storyId: id, code: code ?? noCode }));
}

/** Writes the code of locked stories as the news leaves it, and answers with that. */
export function changeCode(
  db: Db,
  stories: readonly StoryCode[],
  change: (code: CodeUnderReview) => CodeUnderReview,
): CodeUnderReview[] {
  const changed = stories.map(({ storyId, code }) => ({ id: storyId, was: code, code: change(code) }));
  const news = changed.filter(({ was, code }) => code !== was).map(({ id, code }) => ({ id, code }));
  if (news.length > 0) db.later(setCodes(news));
  return changed.map(({ code }) => code);
}

/** It is no edit of the story, so its version stays. */
const setCodes = (
  codes: readonly { readonly id: string; readonly code: CodeUnderReview }[],
): Query<unknown> =>
  sql`update stories s set code = c.code from jsonb_to_recordset(${JSON.stringify(codes)}::jsonb) c (id uuid, code jsonb)
     where ${of('s')} and s.id = c.id`;
