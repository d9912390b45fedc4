/** The prompts table: prompts of the organization, and prompts of projects. */
import {
  CursorText,
  type Db,
  decodeCursor,
  type IdOrSql,
  newId,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  type Query,
  defineRecord,
  type RowOf,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import {
  maxBytesIncludedByDefault,
  type ParamsOf,
  type Prompt,
  type ResultOf,
  type Subject,
  subjectOf,
} from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

const prompts = defineRecord('prompts', 'p', {
  project_id: {},
  slug: {},
  title: {},
  arguments: {},
  tags: {},
  created_by: {},
  updated_by: {},
  imported_by: { initial: null },
  imported_from: { initial: null },
});
export type StoredPromptRow = RowOf<typeof prompts> & { readonly body: string; readonly body_bytes: number };
/** A prompt. A list may omit its text. */
export type PromptRow = Omit<StoredPromptRow, 'body'> & { readonly body: string | null };
type UpsertPromptParams = ParamsOf<BoardRegistry['prompts']['org']['upsert']>;
type ListPromptsParams = ParamsOf<BoardRegistry['prompts']['org']['list']>;
type PromptPage = ResultOf<BoardRegistry['prompts']['org']['list']>;

/** All columns except the text. */
export const promptColumns = sql.part`${prompts.list}, octet_length(p.body) as body_bytes`;

export const toPrompt = (row: PromptRow): Prompt => ({
  ...prompts.shown(row),
  scope: row.project_id === null ? 'org' : 'project',
  body: row.body,
  bodyBytes: row.body_bytes,
});

/** Returns the prompt as an event subject. All members may see a prompt of the organization. */
export const toPromptEventSubject = (
  prompt: Pick<StoredPromptRow, 'id' | 'slug' | 'title' | 'project_id'>,
): Subject => subjectOf('prompt', prompt, prompt.title, prompt.slug);

/** Returns the condition for the owner of a prompt: a project, or null for the organization. */
const ownerCondition = (projectId: IdOrSql | null): Part =>
  projectId === null ? sql.part`p.project_id is null` : sql.part`p.project_id = ${projectId}`;

/**
 * Creates the prompt if its slug is free, and otherwise locks the existing prompt. Returns its current state.
 * The insert waits for a transaction that creates the same prompt, and the read after the insert sees the row
 * of that transaction.
 */
export async function lockOrCreatePrompt(
  db: Db,
  { actor }: Caller,
  projectId: IdOrSql | null,
  draft: UpsertPromptParams,
): Promise<{ prompt: StoredPromptRow; created: boolean }> {
  // Without a project the organization's row provides one row for the insert. An unknown project provides
  // none, so nothing is inserted.
  const owner =
    projectId === null
      ? sql.part`(select null::uuid as project_id from orgs o where o.id = ${currentOrgId}) w`
      : sql.part`(select o.id as project_id from projects o where ${orgFilter('o')} and o.id = ${projectId}) w`;
  const by = sql.part`${actor}::jsonb`;
  const [made, prompt] = await Promise.all([
    db.find(
      sql<{
        id: string;
      }>`insert into prompts (org_id, id, project_id, slug, title, body, arguments, tags, created_by, updated_by)
         select ${currentOrgId}, ${newId()}::uuid, w.project_id, ${draft.slug}, ${draft.title},
           ${draft.body}, ${JSON.stringify(draft.arguments)}::jsonb, ${draft.tags}::text[], ${by}, ${by}
         from ${owner}
         on conflict (org_id, project_id, slug) do update set slug = excluded.slug where false
         returning id`,
    ),
    db.get(
      sql<StoredPromptRow>`select ${promptColumns}, p.body from prompts p
         where ${orgFilter('p')} and ${ownerCondition(projectId)} and p.slug = ${draft.slug}`,
    ),
  ]);
  return { prompt, created: made !== undefined };
}

/** Returns those of the slugs that prompts of the project have. */
export const findPromptSlugs = async (
  db: Db,
  projectId: string,
  slugs: readonly string[],
): Promise<Set<string>> =>
  new Set(
    (
      await db.all(
        sql<{ slug: string }>`select p.slug from prompts p
           where ${orgFilter('p')} and p.project_id = ${projectId} and p.slug = any (${slugs}::text[])`,
      )
    ).map(({ slug }) => slug),
  );

export type ImportedPromptRow = Omit<StoredPromptRow, 'body_bytes'>;

/** Writes imported prompts with their versions and times. */
export const insertImportedPrompts = (rows: readonly ImportedPromptRow[]): Query<unknown>[] =>
  prompts.insertAll(rows);

/** Writes a locked prompt. */
export const writePrompt = (prompt: StoredPromptRow): Query<unknown> =>
  sql`update prompts set title = ${prompt.title}, body = ${prompt.body}, arguments = ${JSON.stringify(prompt.arguments)}::jsonb, tags = ${prompt.tags}, updated_by = ${prompt.updated_by}, updated_at = ${prompt.updated_at}, version = ${prompt.version}
     where ${orgFilter()} and id = ${prompt.id}`;

/** Deletes a prompt and returns it. */
export function deletePrompt(
  db: Db,
  projectId: IdOrSql | null,
  slug: string,
): Promise<Pick<StoredPromptRow, 'id' | 'slug' | 'title' | 'project_id'>> {
  return db.get(
    sql<
      Pick<StoredPromptRow, 'id' | 'slug' | 'title' | 'project_id'>
    >`delete from prompts p where ${orgFilter('p')} and ${ownerCondition(projectId)}
         and p.slug = ${slug}
       returning p.id, p.slug, p.title, p.project_id`,
  );
}

const Cursor = z.tuple([CursorText]);

/** Lists a page of the prompts of the organization or of a project, by slug. */
export async function listPrompts(
  db: Db,
  projectId: IdOrSql | null,
  { slug, includeBody, limit, cursor }: ListPromptsParams,
): Promise<PromptPage> {
  const after = decodeCursor(cursor, Cursor);
  const where = [orgFilter('p'), ownerCondition(projectId)];
  if (slug !== undefined) where.push(sql.part`p.slug = ${slug}`);
  if (after !== undefined) where.push(sql.part`p.slug > ${after[0]}`);
  const rows = sql.part`select p.* from prompts p
    where ${sql.join(where, ' and ')} order by p.project_id, p.slug limit ${limit + 1}`;
  return readPromptPage(db, rows, { body: selectListedBody(includeBody, slug), limit });
}

/**
 * Lists a page of a project's effective prompts by slug: its own, and those of the organization that it does
 * not override.
 */
export async function listEffectivePrompts(
  db: Db,
  projectId: IdOrSql,
  { slug, includeBody, limit, cursor }: ListPromptsParams,
): Promise<PromptPage> {
  const after = decodeCursor(cursor, Cursor);
  const where: Part[] = [];
  if (slug !== undefined) where.push(sql.part`p.slug = ${slug}`);
  if (after !== undefined) where.push(sql.part`p.slug > ${after[0]}`);
  const effective = selectEffectivePrompts(projectId, limit + 1, where);
  return readPromptPage(db, effective, { body: selectListedBody(includeBody, slug), limit });
}

/**
 * Returns SQL for the first effective prompts of a project, as rows of the table. It merges two scans of the
 * slug index.
 */
export function selectEffectivePrompts(project: IdOrSql, limit: number, filters: readonly Part[] = []): Part {
  const first = (conditions: readonly Part[]): Part =>
    sql.part`(select p.* from prompts p where ${sql.join([orgFilter('p'), ...conditions, ...filters], ' and ')}
      order by p.project_id, p.slug limit ${sql.literal(limit)})`;
  const hidden = sql.part`exists (select from prompts h where ${orgFilter('h')} and h.project_id = ${project} and h.slug = p.slug)`;
  return sql.part`select p.* from (${first([sql.part`p.project_id = ${project}`])} union all ${first([sql.part`p.project_id is null`, sql.part`not ${hidden}`])}) p
    order by p.slug limit ${sql.literal(limit)}`;
}

/** Returns SQL for the text of a prompt `p` in a list. A long text is included only on request. */
function selectListedBody(includeBody: boolean | undefined, slug: string | undefined): Part {
  if (includeBody === false) return sql.part`null::text`;
  if (includeBody === true || slug !== undefined) return sql.part`p.body`;
  return sql.part`case when octet_length(p.body) <= ${sql.literal(maxBytesIncludedByDefault)} then p.body end`;
}

/** Returns a page of the prompts that the query `rows` selects, ordered by slug. */
async function readPromptPage(
  db: Db,
  promptsQuery: Part,
  { body, limit }: { readonly body: Part; readonly limit: number },
): Promise<PromptPage> {
  const shown = sql.part`select ${promptColumns}, ${body} as body from (${promptsQuery}) p order by p.slug`;
  return pageOfRows(
    await db.all(
      sql<PromptRow>`${limitToPageBytes(shown, sql.part`octet_length(q.body)`, sql.part`q.slug`)}`,
    ),
    limit,
    (row) => [row.slug],
    toPrompt,
  );
}
