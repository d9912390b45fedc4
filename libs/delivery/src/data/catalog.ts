/**
 * The catalog's tables. Each agent has a row with its newest version; publishing and deleting lock it.
 * Versions are inserted and deleted, never updated. Tombstones record deleted versions.
 */
import {
  CursorText,
  type DB,
  type Db,
  decodeCursor,
  newId,
  orgFilter,
  currentOrgId,
  pageOfSearchRows,
  type Part,
  type Query,
  searchPageSql,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import {
  type CatalogAgent,
  type CatalogVersionRef,
  maxBytesIncludedByDefault,
  type ParamsOf,
  type ResultOf,
  type Subject,
  subjectOf,
} from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { planLimits } from '@muster/organizations';
import { type Caller } from '@muster/runtime';
import { containsPattern } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type VersionColumns = Omit<Selectable<DB['catalog_versions']>, 'org_id' | 'content' | 'manifest'>;
/** A version with its agent's slug. A list may omit the manifest. */
export interface CatalogRow extends VersionColumns {
  readonly slug: string;
  readonly manifest: Record<string, unknown> | null;
}
type ListAgentsParams = ParamsOf<DeliveryRegistry['agents']['catalog']['list']>;
type CatalogPage = ResultOf<DeliveryRegistry['agents']['catalog']['list']>;

/** All columns of a version except manifest and content. */
const versionColumns = [
  'agent_id',
  'version',
  'name',
  'description',
  'tags',
  'content_type',
  'encoding',
  'sha256',
  'size',
  'published_by',
  'created_at',
] as const;
/** The columns of a version `v` with the slug of its agent `c`. */
const versionAndSlugColumns = sql.part`${sql.columns('v', versionColumns)}, c.slug`;

export const toCatalogAgent = (row: CatalogRow): CatalogAgent => ({
  id: row.agent_id,
  slug: row.slug,
  version: row.version,
  name: row.name,
  description: row.description,
  manifest: row.manifest,
  tags: row.tags,
  sha256: row.sha256,
  size: row.size,
  contentType: row.content_type,
  publishedBy: row.published_by,
  createdAt: row.created_at,
});

/** Returns the agent as an event subject. Every member may see it. */
export const catalogAgentSubject = (id: string, slug: string, title: string): Subject =>
  subjectOf('agent', { id }, title, slug);

/** A locked agent of the catalog. */
export interface CatalogHead {
  readonly id: string;
  readonly publisherId: string;
  /** The newest version; null before the first version is published. */
  readonly latestVersion: string | null;
}

const catalogHeadQuery = (slug: string, lockClause: Part) =>
  sql<CatalogHead>`select c.id, c.publisher_id as "publisherId", c.latest_version as "latestVersion" from catalog_agents c
     where ${orgFilter('c')} and c.slug = ${slug} ${lockClause}`;

/** Locks the agent and lists its versions; undefined if it does not exist. */
export async function lockAgent(
  db: Db,
  slug: string,
): Promise<{ readonly head: CatalogHead; readonly versions: CatalogVersionRef[] } | undefined> {
  const [head, versions] = await Promise.all([
    db.find(catalogHeadQuery(slug, sql.part`for update`)),
    listVersions(db, { slug }),
  ]);
  return head === undefined ? undefined : { head, versions };
}

export interface CreatedOrLockedAgent {
  readonly head: CatalogHead;
  readonly wasCreated: boolean;
  readonly versions: readonly CatalogVersionRef[];
  /** The existing version with the number to publish, if there is one. */
  readonly publishedVersion: CatalogRow | undefined;
  /** The SHA-256 of the version with this number that was deleted, if there was one. */
  readonly deletedVersionSha256: string | undefined;
}

/**
 * Creates the agent if its slug is free, and otherwise locks the existing one. The insert waits for a
 * transaction that creates, locks or deletes the same agent. The statements after it read that transaction's
 * result.
 */
export async function createOrLockAgent(
  db: Db,
  { memberId }: Caller,
  slug: string,
  version: string,
): Promise<CreatedOrLockedAgent> {
  const [made, head, versions, published, tombstone] = await Promise.all([
    db.find(
      sql`insert into catalog_agents (org_id, id, slug, publisher_id) values (${currentOrgId}, ${newId()}, ${slug}, ${memberId})
         on conflict (org_id, slug) do update set slug = excluded.slug where false returning id`,
    ),
    db.one(catalogHeadQuery(slug, sql.empty)),
    listVersions(db, { slug }),
    findVersion(db, { slug }, version),
    db.find(
      sql<{
        sha256: string;
      }>`select sha256 from catalog_tombstones where ${orgFilter()} and slug = ${slug} and version = ${version}`,
    ),
  ]);
  return {
    head,
    wasCreated: made !== undefined,
    versions,
    publishedVersion: published,
    deletedVersionSha256: tombstone?.sha256,
  };
}

/**
 * Returns the plan's limit on agents and their number, including the one that this transaction inserted;
 * undefined without a limit. A concurrent creation waits for this transaction and then counts again.
 */
export async function lockCatalogQuota(
  db: Db,
): Promise<{ readonly limit: number; readonly used: number } | undefined> {
  const { plan } = await db.one(
    sql<
      Pick<Selectable<DB['subscriptions']>, 'plan'>
    >`select plan from subscriptions where ${orgFilter()} for no key update`,
  );
  const limit = planLimits(plan).agentsInCatalog;
  if (limit === null) return undefined;
  const { used } = await db.one(
    sql<{ used: number }>`select count(*) as used from catalog_agents where ${orgFilter()}`,
  );
  return { limit, used };
}

const insertedVersionColumns = [...versionColumns, 'manifest', 'content'] as const;

export const insertVersion = (row: CatalogRow, content: Buffer): Query<unknown> =>
  sql.insert('catalog_versions', insertedVersionColumns, { ...row, manifest: row.manifest ?? {}, content });

export const setLatestVersion = (agentId: string, version: string): Query<unknown> =>
  sql`update catalog_agents set latest_version = ${version} where ${orgFilter()} and id = ${agentId}`;

/** Deletes these versions of a locked agent, and records a tombstone for each. */
export const deleteVersions = (agentId: string, slug: string, versions: readonly string[]): Query<unknown> =>
  sql`with gone as (delete from catalog_versions v where ${orgFilter('v')} and v.agent_id = ${agentId} and v.version = any (${versions}::text[])
       returning v.version, v.sha256)
     insert into catalog_tombstones (org_id, slug, version, sha256) select ${currentOrgId}, ${slug}, gone.version, gone.sha256 from gone
     on conflict (org_id, slug, version) do nothing`;

/** Deletes a locked agent that has no versions left. */
export const deleteAgent = (agentId: string): Query<unknown> =>
  sql`delete from catalog_agents where ${orgFilter()} and id = ${agentId}`;

/** A reference to an agent: exactly one of slug and ID. */
export interface AgentSelector {
  readonly slug?: string | undefined;
  readonly agentId?: string | undefined;
}

const isSelectedAgentSql = ({ slug, agentId }: AgentSelector): Part =>
  sql.part`${orgFilter('c')} and ${agentId === undefined ? sql.part`c.slug = ${slug}` : sql.part`c.id = ${agentId}::uuid`}`;

/** Lists all versions of an agent, unordered. The list is empty if the agent does not exist. */
export function listVersions(db: Db, ref: AgentSelector): Promise<CatalogVersionRef[]> {
  return db.all(
    sql<CatalogVersionRef>`select v.version, v.sha256, v.size, v.created_at as "createdAt"
       from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
       where ${isSelectedAgentSql(ref)}`,
  );
}

const fromVersionSql = (ref: AgentSelector, version: string | undefined): Part =>
  sql.part`from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
     and v.version = ${version === undefined ? sql.part`c.latest_version` : version}
   where ${isSelectedAgentSql(ref)}`;

/** Finds an exact version of an agent, or the newest; undefined if there is none. */
export function findVersion(
  db: Db,
  ref: AgentSelector,
  version: string | undefined,
): Promise<CatalogRow | undefined> {
  return db.find(
    sql<CatalogRow>`select ${versionAndSlugColumns}, v.manifest ${fromVersionSql(ref, version)}`,
  );
}

/** Finds a version like `findVersion`, with its content instead of the manifest. */
export function findVersionContent(
  db: Db,
  ref: AgentSelector,
  version: string | undefined,
): Promise<(CatalogRow & { readonly content: Buffer }) | undefined> {
  return db.find(
    sql<
      CatalogRow & { content: Buffer }
    >`select ${versionAndSlugColumns}, null::jsonb as manifest, v.content ${fromVersionSql(ref, version)}`,
  );
}

const Cursor = z.tuple([CursorText]);

/** Returns SQL for the manifest in a list. A long manifest is included only on request. */
function manifestColumnSql(include: boolean | undefined): Part {
  if (include === undefined)
    return sql.part`case when octet_length(q.manifest::text) <= ${sql.literal(maxBytesIncludedByDefault)} then q.manifest end`;
  return include ? sql.part`q.manifest` : sql.part`null::jsonb`;
}

/** Lists a page of the catalog ordered by slug. Each agent appears with its newest version. */
export async function listAgents(db: Db, params: ListAgentsParams): Promise<CatalogPage> {
  const { query, tag, includeManifest, limit, cursor } = params;
  const after = decodeCursor(cursor, Cursor);
  const where = [orgFilter('c')];
  if (after !== undefined) where.push(sql.part`c.slug > ${after[0]}`);
  const tests: Part[] = [];
  if (tag !== undefined) tests.push(sql.part`${tag} = any (q.tags)`);
  if (query !== undefined) {
    const pattern = containsPattern(query);
    tests.push(
      sql.part`(q.slug ilike ${pattern} or q.name ilike ${pattern} or q.description ilike ${pattern})`,
    );
  }
  const all = sql.part`select ${versionAndSlugColumns}, v.manifest from catalog_agents c
    join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id and v.version = c.latest_version
    where ${sql.join(where, ' and ')} order by c.slug`;
  const fits = tests.length === 0 ? null : sql.join(tests, ' and ');
  const bySlug = sql.part`q.slug`;
  const found = searchPageSql(all, fits, bySlug, sql.part`${limit + 1}`);
  const shown = sql.columns('q', [...versionColumns, 'slug', ...(fits === null ? [] : ['fits', 'nth'])]);
  const page = sql.part`select ${shown}, ${manifestColumnSql(includeManifest)} as manifest
    from (${found}) q order by q.slug`;
  const rows = await db.all(
    sql<CatalogRow>`${limitToPageBytes(
      page,
      sql.part`coalesce(octet_length(q.manifest::text), 0) + octet_length(q.description)`,
      bySlug,
    )}`,
  );
  return pageOfSearchRows(rows, limit, (row) => [row.slug], toCatalogAgent);
}
