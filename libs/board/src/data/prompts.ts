/** The prompts table: those of the organization, and those that projects have of their own. */
import {
  type DB,
  type Db,
  decodeCursor,
  newId,
  pageOfRows,
  type Query,
  sqlQuery,
  Values,
} from '@muster/database';
import { type ParamsOf, type Prompt, type Registry, type ResultOf, type Subject } from '@muster/registry';
import { type Caller, notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type Row = Omit<Selectable<DB['prompts']>, 'org_id'>;
/** A prompt whose text may have been left where it is. */
export type PromptRow = Omit<Row, 'body'> & { readonly body: string | null };
type Draft = ParamsOf<Registry['prompts']['org']['upsert']>;
type Listed = ParamsOf<Registry['prompts']['org']['list']>;
type Page = ResultOf<Registry['prompts']['org']['list']>;

/** All columns but the text. */
export const promptColumns =
  'p.id, p.project_id, p.slug, p.title, p.arguments, p.tags, p.created_by, p.updated_by, p.created_at, p.updated_at, p.version';

export const toPrompt = (row: PromptRow): Prompt => ({
  id: row.id,
  scope: row.project_id === null ? 'org' : 'project',
  projectId: row.project_id,
  slug: row.slug,
  title: row.title,
  body: row.body,
  arguments: row.arguments,
  tags: row.tags,
  createdBy: row.created_by,
  updatedBy: row.updated_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The prompt as the subject of what happened to it; everybody may hear of the organization's. */
export const aboutPrompt = (prompt: Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>): Subject => ({
  type: 'prompt',
  id: prompt.id,
  key: prompt.slug,
  title: prompt.title,
  projectId: prompt.project_id,
});

/** SQL for the owner of a prompt: the project that is meant by a reference, or null for the organization. */
const ownerIs = (values: Values, projectRef: string | null): string =>
  projectRef === null ? 'p.project_id is null' : `p.project_id = ${values.projectId(projectRef)}`;

/**
 * Makes the prompt if there is none of its slug, else locks the one that there is; answers it as it stands. The
 * insert waits for whoever makes the same one, and the read after it sees what they left.
 */
export async function claimPrompt(
  db: Db,
  { orgId, actor }: Caller,
  projectRef: string | null,
  draft: Draft,
): Promise<{ prompt: Row; created: boolean }> {
  const insert = new Values(orgId);
  // The organization's row stands for the project where there is none, so that an unknown project makes nothing.
  const owner =
    projectRef === null
      ? `(select null::uuid as project_id from orgs o where o.id = ${insert.org}) w`
      : `(select o.id as project_id from projects o where o.org_id = ${insert.org} and o.id = ${insert.projectId(projectRef)}) w`;
  const by = `${insert.$(actor)}::jsonb`;
  const read = new Values(orgId);
  const [made, prompt] = await Promise.all([
    db.find(
      sqlQuery<{ id: string }>(
        `insert into prompts (org_id, id, project_id, slug, title, body, arguments, tags, created_by, updated_by)
         select ${insert.org}, ${insert.uuid(newId())}, w.project_id, ${insert.$(draft.slug)}, ${insert.$(draft.title)},
           ${insert.$(draft.body)}, ${insert.$(JSON.stringify(draft.arguments))}::jsonb, ${insert.$(draft.tags)}::text[], ${by}, ${by}
         from ${owner}
         on conflict (org_id, project_id, slug) do update set slug = excluded.slug where false
         returning id`,
        insert.list,
      ),
    ),
    db.find(
      sqlQuery<Row>(
        `select ${promptColumns}, p.body from prompts p
         where p.org_id = ${read.org} and ${ownerIs(read, projectRef)} and p.slug = ${read.$(draft.slug)}`,
        read.list,
      ),
    ),
  ]);
  if (prompt === undefined) throw notFound();
  return { prompt, created: made !== undefined };
}

/** Writes a locked prompt as it is now. */
export const setPrompt = (orgId: string, prompt: Row): Query<unknown> =>
  sqlQuery(
    `update prompts set title = $3, body = $4, arguments = $5::jsonb, tags = $6, updated_by = $7, updated_at = $8, version = $9
     where org_id = $1 and id = $2`,
    [
      orgId,
      prompt.id,
      prompt.title,
      prompt.body,
      JSON.stringify(prompt.arguments),
      prompt.tags,
      prompt.updated_by,
      prompt.updated_at,
      prompt.version,
    ],
  );

/** Removes a prompt; answers what it was. */
export async function deletePrompt(
  db: Db,
  orgId: string,
  projectRef: string | null,
  slug: string,
): Promise<Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>> {
  const values = new Values(orgId);
  const gone = await db.find(
    sqlQuery<Pick<Row, 'id' | 'slug' | 'title' | 'project_id'>>(
      `delete from prompts p where p.org_id = ${values.org} and ${ownerIs(values, projectRef)}
         and p.slug = ${values.$(slug)}
       returning p.id, p.slug, p.title, p.project_id`,
      values.list,
    ),
  );
  if (gone === undefined) throw notFound();
  return gone;
}

const Cursor = z.tuple([z.string()]);

/** A page of the organization's prompts, or of a project's own, by slug. */
export async function listPrompts(
  db: Db,
  orgId: string,
  projectRef: string | null,
  { slug, includeBody, limit, cursor }: Listed,
): Promise<Page> {
  const after = decodeCursor(cursor, Cursor);
  const values = new Values(orgId);
  const where = [`p.org_id = ${values.org}`, ownerIs(values, projectRef)];
  if (slug !== undefined) where.push(`p.slug = ${values.$(slug)}`);
  if (after !== undefined) where.push(`p.slug > ${values.$(after[0])}`);
  return pageOf(
    await db.all(
      sqlQuery<PromptRow>(
        `select ${promptColumns}, ${includeBody ? 'p.body' : 'null as body'} from prompts p
         where ${where.join(' and ')} order by p.project_id, p.slug limit ${values.$(limit + 1)}`,
        values.list,
      ),
    ),
    limit,
  );
}

/** A page of what a project has: its own prompts, and the organization's that none of them hides, by slug. */
export async function listEffectivePrompts(
  db: Db,
  orgId: string,
  projectRef: string,
  { slug, includeBody, limit, cursor }: Listed,
): Promise<Page> {
  const after = decodeCursor(cursor, Cursor);
  const values = new Values(orgId);
  const where: string[] = [];
  if (slug !== undefined) where.push(`p.slug = ${values.$(slug)}`);
  if (after !== undefined) where.push(`p.slug > ${values.$(after[0])}`);
  const effective = effectivePrompts(values, values.projectId(projectRef), limit + 1, where);
  return pageOf(
    await db.all(
      sqlQuery<PromptRow>(
        `select ${promptColumns}, ${includeBody ? 'p.body' : 'null as body'} from (${effective}) p order by p.slug`,
        values.list,
      ),
    ),
    limit,
  );
}

/** SQL for the first prompts that a project has, as rows of the table: two walks along the index of slugs, merged. */
export function effectivePrompts(
  values: Values,
  project: string,
  limit: number,
  where: readonly string[] = [],
): string {
  const first = (conditions: readonly string[]): string =>
    `(select p.* from prompts p where ${[`p.org_id = ${values.org}`, ...conditions, ...where].join(' and ')}
      order by p.project_id, p.slug limit ${limit})`;
  const hidden = `exists (select from prompts h where h.org_id = ${values.org} and h.project_id = ${project} and h.slug = p.slug)`;
  return `select p.* from (${first([`p.project_id = ${project}`])} union all ${first(['p.project_id is null', `not ${hidden}`])}) p
    order by p.slug limit ${limit}`;
}

const pageOf = (rows: readonly PromptRow[], limit: number): Page =>
  pageOfRows(rows, limit, (row) => [row.slug], toPrompt);
