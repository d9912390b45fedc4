/**
 * The catalog: a row for each agent, which says what its newest version is and is locked by the caller who publishes or
 * deletes one; its versions, which are added and deleted, never rewritten; and what is remembered of deleted ones.
 */
import {
  CursorText,
  type DB,
  type Db,
  decodeCursor,
  newId,
  of,
  organization,
  pageOfSearch,
  type Part,
  type Query,
  searched,
  sql,
  withinPage,
} from '@muster/driver';
import {
  type CatalogAgent,
  type CatalogVersionRef,
  mostUnaskedBytes,
  type ParamsOf,
  type Registry,
  type ResultOf,
  type Subject,
  subjectOf,
} from '@muster/registry';
import { planLimits } from '@muster/organizations';
import { type Caller } from '@muster/runtime';
import { containing } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { z } from 'zod';

type Version = Omit<Selectable<DB['catalog_versions']>, 'org_id' | 'content' | 'manifest'>;
/** A version with the slug of its agent; its manifest may have been left where it is. */
export interface CatalogRow extends Version {
  readonly slug: string;
  readonly manifest: Record<string, unknown> | null;
}
type Listed = ParamsOf<Registry['agents']['catalog']['list']>;
type Page = ResultOf<Registry['agents']['catalog']['list']>;

/** All columns of a version but manifest and content. */
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
/** Those of a version `v`, with the slug of its agent `c`. */
const columns = sql.part`${sql.columns('v', versionColumns)}, c.slug`;

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

/** The agent as the subject of what happened to it; every member may hear of it. */
export const aboutCatalogAgent = (id: string, slug: string, title: string): Subject =>
  subjectOf('agent', { id }, title, slug);

/** A locked agent of the catalog. */
export interface CatalogHead {
  readonly id: string;
  readonly publisherId: string;
  /** Null: it has none yet. */
  readonly latestVersion: string | null;
}

const headOf = (slug: string, lock: Part) =>
  sql<CatalogHead>`select c.id, c.publisher_id as "publisherId", c.latest_version as "latestVersion" from catalog_agents c
     where ${of('c')} and c.slug = ${slug} ${lock}`;

/** The agent with all its versions, locked; undefined where there is none. */
export async function lockAgent(
  db: Db,
  slug: string,
): Promise<{ readonly head: CatalogHead; readonly versions: CatalogVersionRef[] } | undefined> {
  const [head, versions] = await Promise.all([
    db.find(headOf(slug, sql.part`for update`)),
    listVersions(db, { slug }),
  ]);
  return head === undefined ? undefined : { head, versions };
}

export interface ClaimedAgent {
  readonly head: CatalogHead;
  readonly made: boolean;
  readonly versions: readonly CatalogVersionRef[];
  /** The version that is to be published, where there is one already. */
  readonly published: CatalogRow | undefined;
  /** What it was before it was deleted. */
  readonly buriedSha256: string | undefined;
}

/**
 * Makes the agent if there is none of its slug, else locks the one that there is. The insert waits for a transaction
 * that makes, locks or deletes the same one, and what is read after it is what that one left.
 */
export async function claimAgent(
  db: Db,
  { memberId }: Caller,
  slug: string,
  version: string,
): Promise<ClaimedAgent> {
  const [made, head, versions, published, tombstone] = await Promise.all([
    db.find(
      sql`insert into catalog_agents (org_id, id, slug, publisher_id) values (${organization}, ${newId()}, ${slug}, ${memberId})
         on conflict (org_id, slug) do update set slug = excluded.slug where false returning id`,
    ),
    db.one(headOf(slug, sql.empty)),
    listVersions(db, { slug }),
    findVersion(db, { slug }, version),
    db.find(
      sql<{
        sha256: string;
      }>`select sha256 from catalog_tombstones where ${of()} and slug = ${slug} and version = ${version}`,
    ),
  ]);
  return { head, made: made !== undefined, versions, published, buriedSha256: tombstone?.sha256 };
}

/**
 * How many agents the plan allows, and how many there are, with the one that this transaction made; undefined where it
 * allows any number. Another caller who makes one waits until it ends, and counts anew.
 */
export async function lockCatalogRoom(
  db: Db,
): Promise<{ readonly limit: number; readonly used: number } | undefined> {
  const { plan } = await db.one(
    sql<
      Pick<Selectable<DB['subscriptions']>, 'plan'>
    >`select plan from subscriptions where ${of()} for no key update`,
  );
  const limit = planLimits(plan).agentsInCatalog;
  if (limit === null) return undefined;
  const { used } = await db.one(
    sql<{ used: number }>`select count(*) as used from catalog_agents where ${of()}`,
  );
  return { limit, used };
}

const writtenColumns = [...versionColumns, 'manifest', 'content'] as const;

export const insertVersion = (row: CatalogRow, content: Buffer): Query<unknown> =>
  sql.insert('catalog_versions', writtenColumns, { ...row, manifest: row.manifest ?? {}, content });

export const setLatest = (agentId: string, version: string): Query<unknown> =>
  sql`update catalog_agents set latest_version = ${version} where ${of()} and id = ${agentId}`;

/** Deletes these versions of a locked agent, and remembers what they were. */
export const deleteVersions = (agentId: string, slug: string, versions: readonly string[]): Query<unknown> =>
  sql`with gone as (delete from catalog_versions v where ${of('v')} and v.agent_id = ${agentId} and v.version = any (${versions}::text[])
       returning v.version, v.sha256)
     insert into catalog_tombstones (org_id, slug, version, sha256) select ${organization}, ${slug}, gone.version, gone.sha256 from gone
     on conflict (org_id, slug, version) do nothing`;

/** Deletes a locked agent that has no version any more. */
export const deleteAgent = (agentId: string): Query<unknown> =>
  sql`delete from catalog_agents where ${of()} and id = ${agentId}`;

/** How an agent is named: exactly one of the two. */
export interface AgentRef {
  readonly slug?: string | undefined;
  readonly agentId?: string | undefined;
}

const isAgent = ({ slug, agentId }: AgentRef): Part =>
  sql.part`${of('c')} and ${agentId === undefined ? sql.part`c.slug = ${slug}` : sql.part`c.id = ${agentId}::uuid`}`;

/** All versions of an agent, in no order; none where there is no such agent. */
export function listVersions(db: Db, ref: AgentRef): Promise<CatalogVersionRef[]> {
  return db.all(
    sql<CatalogVersionRef>`select v.version, v.sha256, v.size, v.created_at as "createdAt"
       from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
       where ${isAgent(ref)}`,
  );
}

const aVersion = (ref: AgentRef, version: string | undefined): Part =>
  sql.part`from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
     and v.version = ${version === undefined ? sql.part`c.latest_version` : version}
   where ${isAgent(ref)}`;

/** A version of an agent by its exact text, or the newest; undefined where there is none. */
export function findVersion(
  db: Db,
  ref: AgentRef,
  version: string | undefined,
): Promise<CatalogRow | undefined> {
  return db.find(sql<CatalogRow>`select ${columns}, v.manifest ${aVersion(ref, version)}`);
}

/** The same with its content. */
export function findContent(
  db: Db,
  ref: AgentRef,
  version: string | undefined,
): Promise<(CatalogRow & { readonly content: Buffer }) | undefined> {
  return db.find(
    sql<
      CatalogRow & { content: Buffer }
    >`select ${columns}, null::jsonb as manifest, v.content ${aVersion(ref, version)}`,
  );
}

const Cursor = z.tuple([CursorText]);

/** SQL for the manifest in a list: a long one only where it is asked for. */
function shownManifest(include: boolean | undefined): Part {
  if (include === undefined)
    return sql.part`case when octet_length(q.manifest::text) <= ${sql.literal(mostUnaskedBytes)} then q.manifest end`;
  return include ? sql.part`q.manifest` : sql.part`null::jsonb`;
}

/** A page of the catalog by slug, each agent as its newest version says. */
export async function listAgents(db: Db, listed: Listed): Promise<Page> {
  const { query, tag, includeManifest, limit, cursor } = listed;
  const after = decodeCursor(cursor, Cursor);
  const where = [of('c')];
  if (after !== undefined) where.push(sql.part`c.slug > ${after[0]}`);
  const tests: Part[] = [];
  if (tag !== undefined) tests.push(sql.part`${tag} = any (q.tags)`);
  if (query !== undefined) {
    const pattern = containing(query);
    tests.push(
      sql.part`(q.slug ilike ${pattern} or q.name ilike ${pattern} or q.description ilike ${pattern})`,
    );
  }
  const all = sql.part`select ${columns}, v.manifest from catalog_agents c
    join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id and v.version = c.latest_version
    where ${sql.join(where, ' and ')} order by c.slug`;
  const fits = tests.length === 0 ? null : sql.join(tests, ' and ');
  const bySlug = sql.part`q.slug`;
  const found = searched(all, fits, bySlug, sql.part`${limit + 1}`);
  const shown = sql.columns('q', [...versionColumns, 'slug', ...(fits === null ? [] : ['fits', 'nth'])]);
  const page = sql.part`select ${shown}, ${shownManifest(includeManifest)} as manifest
    from (${found}) q order by q.slug`;
  const rows = await db.all(
    sql<CatalogRow>`${withinPage(
      page,
      sql.part`coalesce(octet_length(q.manifest::text), 0) + octet_length(q.description)`,
      bySlug,
    )}`,
  );
  return pageOfSearch(rows, limit, (row) => [row.slug], toCatalogAgent);
}
