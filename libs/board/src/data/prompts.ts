/** The prompts table: those of the organization, and those that projects have of their own. */
import {
  CursorText,
  type Db,
  decodeCursor,
  type Id,
  newId,
  of,
  organization,
  pageOfRows,
  type Part,
  type Query,
  record,
  type RowOf,
  sql,
  withinPage,
} from '@muster/driver';
import {
  mostUnaskedBytes,
  type ParamsOf,
  type Prompt,
  type Registry,
  type ResultOf,
  type Subject,
  subjectOf,
} from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

const prompts = record('prompts', 'p', {
  project_id: {},
  slug: {},
  title: {},
  arguments: {},
  tags: {},
  created_by: {},
  updated_by: {},
});
type Row = RowOf<typeof prompts> & { readonly body: string; readonly body_bytes: number };
/** A prompt whose text may have been left where it is. */
export type PromptRow = Omit<Row, 'body'> & { readonly body: string | null };
type Draft = ParamsOf<Registry['prompts']['org']['upsert']>;
type Listed = ParamsOf<Registry['prompts']['org']['list']>;
type Page = ResultOf<Registry['prompts']['org']['list']>;

/** All columns but the text. */
export const promptColumns = sql.part`${prompts.list}, octet_length(p.body) as body_bytes`;

export const toPrompt = (row: PromptRow): Prompt => ({
  ...prompts.shown(row),
  scope: row.project_id === null ? 'org' : 'project',
  body: row.body,
  bodyBytes: row.body_bytes,
});

/** The prompt as the subject of what happened to it; everybody may hear of the organization's. */
export const aboutPrompt = (prompt: Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>): Subject =>
  subjectOf('prompt', prompt, prompt.title, prompt.slug);

/** SQL for the owner of a prompt: the project that is meant by a reference, or null for the organization. */
const ownerIs = (projectId: Id | null): Part =>
  projectId === null ? sql.part`p.project_id is null` : sql.part`p.project_id = ${projectId}`;

/**
 * Makes the prompt if there is none of its slug, else locks the one that there is; answers it as it stands. The
 * insert waits for a transaction that makes the same one, and the read after it sees what that one left.
 */
export async function claimPrompt(
  db: Db,
  { actor }: Caller,
  projectId: Id | null,
  draft: Draft,
): Promise<{ prompt: Row; created: boolean }> {
  // The organization's row stands for the project where there is none, so that an unknown project makes nothing.
  const owner =
    projectId === null
      ? sql.part`(select null::uuid as project_id from orgs o where o.id = ${organization}) w`
      : sql.part`(select o.id as project_id from projects o where ${of('o')} and o.id = ${projectId}) w`;
  const by = sql.part`${actor}::jsonb`;
  const [made, prompt] = await Promise.all([
    db.find(
      sql<{
        id: string;
      }>`insert into prompts (org_id, id, project_id, slug, title, body, arguments, tags, created_by, updated_by)
         select ${organization}, ${newId()}::uuid, w.project_id, ${draft.slug}, ${draft.title},
           ${draft.body}, ${JSON.stringify(draft.arguments)}::jsonb, ${draft.tags}::text[], ${by}, ${by}
         from ${owner}
         on conflict (org_id, project_id, slug) do update set slug = excluded.slug where false
         returning id`,
    ),
    db.get(
      sql<Row>`select ${promptColumns}, p.body from prompts p
         where ${of('p')} and ${ownerIs(projectId)} and p.slug = ${draft.slug}`,
    ),
  ]);
  return { prompt, created: made !== undefined };
}

/** Writes a locked prompt as it is now. */
export const setPrompt = (prompt: Row): Query<unknown> =>
  sql`update prompts set title = ${prompt.title}, body = ${prompt.body}, arguments = ${JSON.stringify(prompt.arguments)}::jsonb, tags = ${prompt.tags}, updated_by = ${prompt.updated_by}, updated_at = ${prompt.updated_at}, version = ${prompt.version}
     where ${of()} and id = ${prompt.id}`;

/** Removes a prompt; answers what it was. */
export function deletePrompt(
  db: Db,
  projectId: Id | null,
  slug: string,
): Promise<Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>> {
  return db.get(
    sql<
      Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>
    >`delete from prompts p where ${of('p')} and ${ownerIs(projectId)}
         and p.slug = ${slug}
       returning p.id, p.slug, p.title, p.project_id`,
  );
}

const Cursor = z.tuple([CursorText]);

/** A page of the organization's prompts, or of a project's own, by slug. */
export async function listPrompts(
  db: Db,
  projectId: Id | null,
  { slug, includeBody, limit, cursor }: Listed,
): Promise<Page> {
  const after = decodeCursor(cursor, Cursor);
  const where = [of('p'), ownerIs(projectId)];
  if (slug !== undefined) where.push(sql.part`p.slug = ${slug}`);
  if (after !== undefined) where.push(sql.part`p.slug > ${after[0]}`);
  const rows = sql.part`select p.* from prompts p
    where ${sql.join(where, ' and ')} order by p.project_id, p.slug limit ${limit + 1}`;
  return pageOf(db, rows, { body: shownBody(includeBody, slug), limit });
}

/** A page of what a project has: its own prompts, and the organization's that none of them hides, by slug. */
export async function listEffectivePrompts(
  db: Db,
  projectId: Id,
  { slug, includeBody, limit, cursor }: Listed,
): Promise<Page> {
  const after = decodeCursor(cursor, Cursor);
  const where: Part[] = [];
  if (slug !== undefined) where.push(sql.part`p.slug = ${slug}`);
  if (after !== undefined) where.push(sql.part`p.slug > ${after[0]}`);
  const effective = effectivePrompts(projectId, limit + 1, where);
  return pageOf(db, effective, { body: shownBody(includeBody, slug), limit });
}

/** SQL for the first prompts that a project has, as rows of the table: two walks along the index of slugs, merged. */
export function effectivePrompts(project: Id, limit: number, where: readonly Part[] = []): Part {
  const first = (conditions: readonly Part[]): Part =>
    sql.part`(select p.* from prompts p where ${sql.join([of('p'), ...conditions, ...where], ' and ')}
      order by p.project_id, p.slug limit ${sql.literal(limit)})`;
  const hidden = sql.part`exists (select from prompts h where ${of('h')} and h.project_id = ${project} and h.slug = p.slug)`;
  return sql.part`select p.* from (${first([sql.part`p.project_id = ${project}`])} union all ${first([sql.part`p.project_id is null`, sql.part`not ${hidden}`])}) p
    order by p.slug limit ${sql.literal(limit)}`;
}

/** SQL for the text of a prompt `p` in a list: a long one only where it is asked for. */
function shownBody(includeBody: boolean | undefined, slug: string | undefined): Part {
  if (includeBody === false) return sql.part`null::text`;
  if (includeBody === true || slug !== undefined) return sql.part`p.body`;
  return sql.part`case when octet_length(p.body) <= ${sql.literal(mostUnaskedBytes)} then p.body end`;
}

/** A page of these rows of the table, which are in the order of their slugs. */
async function pageOf(
  db: Db,
  rows: Part,
  { body, limit }: { readonly body: Part; readonly limit: number },
): Promise<Page> {
  const shown = sql.part`select ${promptColumns}, ${body} as body from (${rows}) p order by p.slug`;
  return pageOfRows(
    await db.all(sql<PromptRow>`${withinPage(shown, sql.part`octet_length(q.body)`, sql.part`q.slug`)}`),
    limit,
    (row) => [row.slug],
    toPrompt,
  );
}
