/**
 * Contracts: a row for each, which says what its newest version is and is locked to add one; their versions, which
 * are added, never rewritten; and the stories that each was published for.
 */
import { createHash } from 'node:crypto';
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
import { type Contract, type ParamsOf, type Registry, type ResultOf, type Subject } from '@muster/registry';
import { type Caller, notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type Version = Omit<Selectable<DB['contract_versions']>, 'org_id' | 'content'>;
/** A version with the slug of its contract; its content may have been left where it is. */
export interface ContractRow extends Version {
  readonly slug: string;
  readonly size: number;
  readonly content: string | null;
}
type Draft = ParamsOf<Registry['contracts']['publish']>;
type Listed = ParamsOf<Registry['contracts']['list']>;
type Page = ResultOf<Registry['contracts']['list']>;

/** All columns of a version `v` but its content, with those of its contract `c`. */
export const contractColumns =
  'v.contract_id, v.version, v.project_id, v.kind, v.content_hash, v.story_id, v.note, v.published_by, v.created_at, c.slug, octet_length(v.content) as size';

export const toContract = (row: ContractRow): Contract => ({
  id: row.contract_id,
  projectId: row.project_id,
  slug: row.slug,
  version: row.version,
  kind: row.kind,
  content: row.content,
  contentHash: row.content_hash,
  size: row.size,
  storyId: row.story_id,
  note: row.note,
  publishedBy: row.published_by,
  createdAt: row.created_at,
});

/** The contract as the subject of what happened to it. */
export const aboutContract = (
  contract: Pick<ContractRow, 'contract_id' | 'slug' | 'project_id'>,
): Subject => ({
  type: 'contract',
  id: contract.contract_id,
  key: contract.slug,
  title: contract.slug,
  projectId: contract.project_id,
});

/** Keeps a story from being deleted until this transaction ends; undefined where there is none. */
export function holdStory(
  db: Db,
  orgId: string,
  ref: string,
): Promise<{ id: string; project_id: string } | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<{ id: string; project_id: string }>(
      `select s.id, s.project_id from stories s where s.org_id = ${values.org} and s.id = ${values.storyId(ref)} for key share`,
      values.list,
    ),
  );
}

/** A locked contract. */
interface Head {
  readonly id: string;
  readonly project_id: string;
  readonly slug: string;
  /** 0: it has none yet. */
  readonly version: number;
}

/**
 * Locks the contract against other publishers, and makes it where there is none yet; with its newest version. The
 * insert waits for whoever makes or locks the same one, and what is read after it is what they left.
 */
export async function lockContract(
  db: Db,
  orgId: string,
  projectRef: string,
  slug: string,
): Promise<{ head: Head; newest: ContractRow | undefined }> {
  const insert = new Values(orgId);
  const read = new Values(orgId);
  const isIt = `c.org_id = ${read.org} and c.project_id = ${read.projectId(projectRef)} and c.slug = ${read.$(slug)}`;
  const [, head, newest] = await Promise.all([
    db.find(
      sqlQuery(
        `insert into contracts (org_id, id, project_id, slug)
         select ${insert.org}, ${insert.uuid(newId())}, p.id, ${insert.$(slug)} from projects p
         where p.org_id = ${insert.org} and p.id = ${insert.projectId(projectRef)}
         on conflict (org_id, project_id, slug) do update set slug = excluded.slug where false`,
        insert.list,
      ),
    ),
    db.find(
      sqlQuery<Head>(
        `select c.id, c.project_id, c.slug, c.version from contracts c where ${isIt}`,
        read.list,
      ),
    ),
    db.find(
      sqlQuery<ContractRow>(
        `select ${contractColumns}, v.content from contracts c
         join contract_versions v on v.org_id = c.org_id and v.contract_id = c.id and v.version = c.version
         where ${isIt}`,
        read.list,
      ),
    ),
  ]);
  if (head === undefined) throw notFound();
  return { head, newest };
}

/** The version that follows the newest of a locked contract. */
export const nextVersion = (
  { actor }: Caller,
  head: Head,
  { kind, content, note }: Draft,
  storyId: string | null,
  at: string,
): ContractRow & { content: string } => ({
  contract_id: head.id,
  version: head.version + 1,
  project_id: head.project_id,
  slug: head.slug,
  kind,
  content,
  content_hash: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
  story_id: storyId,
  note: note ?? null,
  published_by: actor,
  created_at: at,
});

/** Writes a version, and that it is the newest of its locked contract. */
export const setVersion = (orgId: string, row: ContractRow): Query<unknown>[] => [
  sqlQuery(
    `insert into contract_versions (org_id, contract_id, version, project_id, kind, content, content_hash, story_id, note, published_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      orgId,
      row.contract_id,
      row.version,
      row.project_id,
      row.kind,
      row.content,
      row.content_hash,
      row.story_id,
      row.note,
      row.published_by,
      row.created_at,
    ],
  ),
  sqlQuery('update contracts set version = $3 where org_id = $1 and id = $2', [
    orgId,
    row.contract_id,
    row.version,
  ]),
];

/** From now on the contract is among those of the story. */
export const linkContract = (orgId: string, contract: ContractRow, storyId: string): Query<unknown> =>
  sqlQuery(
    `insert into contract_stories (org_id, story_id, slug, contract_id, project_id) values ($1, $2, $3, $4, $5)
     on conflict (org_id, story_id, slug) do nothing`,
    [orgId, storyId, contract.slug, contract.contract_id, contract.project_id],
  );

const SlugCursor = z.tuple([z.string()]);
const VersionCursor = z.tuple([z.int32().min(1)]);

/** A page of contracts: the newest version of each by slug, or all versions of one, newest first. */
export async function listContracts(db: Db, orgId: string, listed: Listed): Promise<Page> {
  const { projectId, slug, storyId, includeContent, limit, cursor } = listed;
  const values = new Values(orgId);
  const project = values.projectId(projectId);
  const where = [`c.org_id = ${values.org}`, `c.project_id = ${project}`];
  // Of a story's contracts its links are walked, so that a page costs the same however many the project has.
  const key = storyId === undefined ? 'c.slug' : 'l.slug';
  let from = 'contracts c';
  if (storyId !== undefined) {
    from = `contract_stories l join contracts c on c.org_id = l.org_id and c.id = l.contract_id`;
    where.push(`l.org_id = ${values.org}`, `l.story_id = ${values.storyId(storyId)}`);
  }
  let joined = 'v.version = c.version';
  let order = key;
  if (slug === undefined) {
    const after = decodeCursor(cursor, SlugCursor);
    if (after !== undefined) where.push(`${key} > ${values.$(after[0])}`);
  } else {
    const before = decodeCursor(cursor, VersionCursor);
    where.push(`${key} = ${values.$(slug)}`);
    joined = before === undefined ? 'true' : `v.version < ${values.$(before[0])}`;
    order = 'v.version desc';
  }
  const rows = await db.all(
    sqlQuery<ContractRow>(
      `select ${contractColumns}, ${includeContent ? 'v.content' : 'null as content'} from ${from}
       join contract_versions v on v.org_id = ${values.org} and v.contract_id = c.id and ${joined}
       where ${where.join(' and ')} order by ${order} limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => (slug === undefined ? [row.slug] : [row.version]), toContract);
}
