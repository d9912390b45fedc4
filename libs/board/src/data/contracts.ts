/**
 * The tables of contracts. Each contract has a row with its newest version; adding a version locks it.
 * Versions are inserted and never updated. Links connect contracts with the stories they were published for.
 */
import { createHash } from 'node:crypto';
import {
  CursorCount,
  CursorText,
  type DB,
  type Db,
  decodeCursor,
  type IdOrSql,
  newId,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Query,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type Contract, type ParamsOf, type ResultOf, type Subject, subjectOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type ContractVersionRow = Omit<Selectable<DB['contract_versions']>, 'org_id' | 'content'>;
/** A version with its contract's slug. A list may omit the content. */
export interface ContractRow extends ContractVersionRow {
  readonly slug: string;
  readonly size: number;
  readonly content: string | null;
}
type PublishContractParams = ParamsOf<BoardRegistry['contracts']['publish']>;
type ListContractsParams = ParamsOf<BoardRegistry['contracts']['list']>;
type ContractPage = ResultOf<BoardRegistry['contracts']['list']>;

/** All columns of a version `v` except its content, with those of its contract `c`. */
export const contractColumns = sql.part`v.contract_id, v.version, v.project_id, v.kind, v.content_hash, v.story_id, v.note, v.published_by, v.imported_by, v.imported_from, v.created_at, c.slug, octet_length(v.content) as size`;

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
  importedBy: row.imported_by,
  importedFrom: row.imported_from,
  createdAt: row.created_at,
});

/** Returns the contract in the form in which an event names its subject. */
export const toContractEventSubject = (
  contract: Pick<ContractRow, 'contract_id' | 'slug' | 'project_id'>,
): Subject => subjectOf('contract', { ...contract, id: contract.contract_id }, contract.slug, contract.slug);

/** Locks a story against deletion until this transaction ends; undefined if it does not exist. */
export function lockStoryAgainstDeletion(
  db: Db,
  ref: string,
): Promise<{ id: string; project_id: string } | undefined> {
  return db.find(
    sql<{
      id: string;
      project_id: string;
    }>`select s.id, s.project_id from stories s where ${orgFilter('s')} and s.id = ${storyIdSql(ref)} for key share`,
  );
}

/** A locked contract. */
export interface LockedContract {
  readonly id: string;
  readonly project_id: string;
  readonly slug: string;
  /** The number of the newest version; 0 before the first version. */
  readonly version: number;
}

/**
 * Locks the contract against other publishers, creates it if it is missing, and reads its newest version. The
 * insert waits for any transaction that creates or locks the same contract. The reads after the insert see
 * that transaction's result.
 */
export async function lockContract(
  db: Db,
  projectId: IdOrSql,
  slug: string,
): Promise<{ head: LockedContract; newestVersion: ContractRow | undefined }> {
  const isIt = sql.part`${orgFilter('c')} and c.project_id = ${projectId} and c.slug = ${slug}`;
  const [, head, newest] = await Promise.all([
    db.find(
      sql`insert into contracts (org_id, id, project_id, slug)
         select ${currentOrgId}, ${newId()}::uuid, p.id, ${slug} from projects p
         where ${orgFilter('p')} and p.id = ${projectId}
         on conflict (org_id, project_id, slug) do update set slug = excluded.slug where false`,
    ),
    db.get(sql<LockedContract>`select c.id, c.project_id, c.slug, c.version from contracts c where ${isIt}`),
    db.find(
      sql<ContractRow>`select ${contractColumns}, v.content from contracts c
         join contract_versions v on v.org_id = c.org_id and v.contract_id = c.id and v.version = c.version
         where ${isIt}`,
    ),
  ]);
  return { head, newestVersion: newest };
}

/** Locks the project's contracts with these slugs against other publishers. */
export const lockContracts = (
  db: Db,
  projectId: string,
  slugs: readonly string[],
): Promise<LockedContract[]> =>
  db.all(
    sql<LockedContract>`select c.id, c.project_id, c.slug, c.version from contracts c
       where ${orgFilter('c')} and c.project_id = ${projectId} and c.slug = any (${slugs}::text[])
       order by c.id for no key update`,
  );

/** Writes a contract without versions. */
export const insertContract = ({ id, project_id: projectId, slug }: LockedContract): Query<unknown> =>
  sql`insert into contracts (org_id, id, project_id, slug) values (${currentOrgId}, ${id}, ${projectId}, ${slug})`;

/** Builds the row of the next version of a locked contract. */
export const nextContractVersion = (
  { actor }: Caller,
  lockedContract: LockedContract,
  { kind, content, note }: PublishContractParams,
  storyId: string | null,
  publishedAt: string,
): ContractRow & { content: string } => ({
  contract_id: lockedContract.id,
  version: lockedContract.version + 1,
  project_id: lockedContract.project_id,
  slug: lockedContract.slug,
  kind,
  content,
  content_hash: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
  story_id: storyId,
  note: note ?? null,
  published_by: actor,
  imported_by: null,
  imported_from: null,
  created_at: publishedAt,
});

/** Writes a version, and makes it the newest of its locked contract. */
export const insertContractVersion = (row: ContractRow): Query<unknown>[] => [
  sql`insert into contract_versions (org_id, contract_id, version, project_id, kind, content, content_hash, story_id, note, published_by, imported_by, imported_from, created_at)
     values (${currentOrgId}, ${row.contract_id}, ${row.version}, ${row.project_id}, ${row.kind}, ${row.content}, ${row.content_hash}, ${row.story_id}, ${row.note}, ${row.published_by}, ${row.imported_by}, ${row.imported_from}, ${row.created_at})`,
  sql`update contracts set version = ${row.version} where ${orgFilter()} and id = ${row.contract_id}`,
];

/** Links the contract to the story. */
export const linkContract = (contract: ContractRow, storyId: string): Query<unknown> =>
  sql`insert into contract_stories (org_id, story_id, slug, contract_id, project_id) values (${currentOrgId}, ${storyId}, ${contract.slug}, ${contract.contract_id}, ${contract.project_id})
     on conflict (org_id, story_id, slug) do nothing`;

const SlugCursor = z.tuple([CursorText]);
const VersionCursor = z.tuple([CursorCount]);

/** Lists a page of contracts: the newest version of each by slug, or all versions of one, newest first. */
export async function listContracts(
  db: Db,
  projectId: IdOrSql,
  params: ListContractsParams,
): Promise<ContractPage> {
  const { slug, storyId, includeContent, limit, cursor } = params;
  const where = [orgFilter('c'), sql.part`c.project_id = ${projectId}`];
  // A story's contracts are read by its links, so a page has the same cost in a project with many contracts.
  const key = storyId === undefined ? sql.part`c.slug` : sql.part`l.slug`;
  let from = sql.part`contracts c`;
  if (storyId !== undefined) {
    from = sql.part`contract_stories l join contracts c on c.org_id = l.org_id and c.id = l.contract_id`;
    where.push(orgFilter('l'), sql.part`l.story_id = ${storyIdSql(storyId)}`);
  }
  let joined = sql.part`v.version = c.version`;
  if (slug === undefined) {
    const after = decodeCursor(cursor, SlugCursor);
    if (after !== undefined) where.push(sql.part`${key} > ${after[0]}`);
  } else {
    const before = decodeCursor(cursor, VersionCursor);
    where.push(sql.part`${key} = ${slug}`);
    joined = before === undefined ? sql.part`true` : sql.part`v.version < ${before[0]}`;
  }
  const page = sql.part`select ${contractColumns}, ${includeContent ? sql.part`v.content` : sql.part`null as content`} from ${from}
    join contract_versions v on ${orgFilter('v')} and v.contract_id = c.id and ${joined}
    where ${sql.join(where, ' and ')} order by ${slug === undefined ? key : sql.part`v.version desc`} limit ${limit + 1}`;
  const rows = await db.all(
    sql<ContractRow>`${includeContent ? limitToPageBytes(page, sql.part`q.size`, slug === undefined ? sql.part`q.slug` : sql.part`q.version desc`) : page}`,
  );
  return pageOfRows(rows, limit, (row) => (slug === undefined ? [row.slug] : [row.version]), toContract);
}
