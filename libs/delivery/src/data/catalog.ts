/**
 * The catalog: a row for each agent, which says what its newest version is and is locked by whoever publishes or deletes
 * one; its versions, which are added and deleted, never rewritten; and what is remembered of deleted ones.
 */
import {
  containing,
  type Db,
  type DB,
  decodeCursor,
  newId,
  pageOfRows,
  type Query,
  sqlQuery,
  Values,
} from '@muster/database';
import {
  type CatalogAgent,
  type CatalogVersionRef,
  type ParamsOf,
  type Registry,
  type ResultOf,
  type Subject,
} from '@muster/registry';
import { planLimits } from '@muster/people';
import { type Caller } from '@muster/runtime';
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

/** All columns of a version `v` but manifest and content, with the slug of its agent `c`. */
const columns =
  'v.agent_id, v.version, v.name, v.description, v.tags, v.content_type, v.encoding, v.sha256, v.size, v.published_by, v.created_at, c.slug';

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

/** The agent as the subject of what happened to it; everybody may hear of it. */
export const aboutCatalogAgent = (id: string, slug: string, title: string): Subject => ({
  type: 'agent',
  id,
  key: slug,
  title,
  projectId: null,
});

/** A locked agent of the catalog. */
export interface CatalogHead {
  readonly id: string;
  readonly publisherId: string;
  /** Null: it has none yet. */
  readonly latestVersion: string | null;
}

const headOf = (orgId: string, slug: string, hold: '' | 'for update') =>
  sqlQuery<CatalogHead>(
    `select c.id, c.publisher_id as "publisherId", c.latest_version as "latestVersion" from catalog_agents c
     where c.org_id = $1 and c.slug = $2 ${hold}`,
    [orgId, slug],
  );

/** The agent with all its versions, locked; undefined where there is none. */
export async function lockAgent(
  db: Db,
  orgId: string,
  slug: string,
): Promise<{ readonly head: CatalogHead; readonly versions: CatalogVersionRef[] } | undefined> {
  const [head, versions] = await Promise.all([
    db.find(headOf(orgId, slug, 'for update')),
    listVersions(db, orgId, { slug }),
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
 * Makes the agent if there is none of its slug, else locks the one that there is. The insert waits for whoever makes,
 * locks or deletes the same one, and what is read after it is what they left.
 */
export async function claimAgent(
  db: Db,
  { orgId, memberId }: Caller,
  slug: string,
  version: string,
): Promise<ClaimedAgent> {
  const [made, head, versions, published, tombstone] = await Promise.all([
    db.find(
      sqlQuery(
        `insert into catalog_agents (org_id, id, slug, publisher_id) values ($1, $2, $3, $4)
         on conflict (org_id, slug) do update set slug = excluded.slug where false returning id`,
        [orgId, newId(), slug, memberId],
      ),
    ),
    db.one(headOf(orgId, slug, '')),
    listVersions(db, orgId, { slug }),
    findVersion(db, orgId, { slug }, version),
    db.find(
      sqlQuery<{ sha256: string }>(
        'select sha256 from catalog_tombstones where org_id = $1 and slug = $2 and version = $3',
        [orgId, slug, version],
      ),
    ),
  ]);
  return { head, made: made !== undefined, versions, published, buriedSha256: tombstone?.sha256 };
}

/**
 * How many agents the plan allows, and how many there are, with the one that this transaction made. Whoever else makes
 * one waits until it ends, and counts anew.
 */
export async function lockCatalogRoom(
  db: Db,
  orgId: string,
): Promise<{ readonly limit: number | null; readonly used: number }> {
  const [{ plan }, { used }] = await Promise.all([
    db.one(
      sqlQuery<Pick<Selectable<DB['subscriptions']>, 'plan'>>(
        'select plan from subscriptions where org_id = $1 for no key update',
        [orgId],
      ),
    ),
    db.one(
      sqlQuery<{ used: number }>('select count(*) as used from catalog_agents where org_id = $1', [orgId]),
    ),
  ]);
  return { limit: planLimits(plan).agentsInCatalog, used };
}

export const insertVersion = (orgId: string, row: CatalogRow, content: Buffer): Query<unknown> =>
  sqlQuery(
    `insert into catalog_versions (org_id, agent_id, version, name, description, manifest, tags, content, content_type,
       encoding, sha256, size, published_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      orgId,
      row.agent_id,
      row.version,
      row.name,
      row.description,
      row.manifest,
      row.tags,
      content,
      row.content_type,
      row.encoding,
      row.sha256,
      row.size,
      row.published_by,
      row.created_at,
    ],
  );

export const setLatest = (orgId: string, agentId: string, version: string): Query<unknown> =>
  sqlQuery('update catalog_agents set latest_version = $3 where org_id = $1 and id = $2', [
    orgId,
    agentId,
    version,
  ]);

/** Deletes these versions of a locked agent, and remembers what they were. */
export const deleteVersions = (
  orgId: string,
  agentId: string,
  slug: string,
  versions: readonly string[],
): Query<unknown> =>
  sqlQuery(
    `with gone as (delete from catalog_versions v where v.org_id = $1 and v.agent_id = $2 and v.version = any ($4::text[])
       returning v.version, v.sha256)
     insert into catalog_tombstones (org_id, slug, version, sha256) select $1, $3, gone.version, gone.sha256 from gone
     on conflict (org_id, slug, version) do nothing`,
    [orgId, agentId, slug, versions],
  );

/** Deletes a locked agent that has no version any more. */
export const deleteAgent = (orgId: string, agentId: string): Query<unknown> =>
  sqlQuery('delete from catalog_agents where org_id = $1 and id = $2', [orgId, agentId]);

/** How an agent is named: exactly one of the two. */
export interface AgentRef {
  readonly slug?: string | undefined;
  readonly agentId?: string | undefined;
}

const isAgent = (values: Values, { slug, agentId }: AgentRef): string =>
  `c.org_id = ${values.org} and ${agentId === undefined ? `c.slug = ${values.$(slug)}` : `c.id = ${values.uuid(agentId)}`}`;

/** All versions of an agent, in no order; none where there is no such agent. */
export function listVersions(db: Db, orgId: string, ref: AgentRef): Promise<CatalogVersionRef[]> {
  const values = new Values(orgId);
  return db.all(
    sqlQuery<CatalogVersionRef>(
      `select v.version, v.sha256, v.size, v.created_at as "createdAt"
       from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
       where ${isAgent(values, ref)}`,
      values.list,
    ),
  );
}

const aVersion = (values: Values, ref: AgentRef, version: string | undefined): string =>
  `from catalog_agents c join catalog_versions v on v.org_id = c.org_id and v.agent_id = c.id
     and v.version = ${version === undefined ? 'c.latest_version' : values.$(version)}
   where ${isAgent(values, ref)}`;

/** A version of an agent by its exact text, or the newest; undefined where there is none. */
export function findVersion(
  db: Db,
  orgId: string,
  ref: AgentRef,
  version: string | undefined,
): Promise<CatalogRow | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<CatalogRow>(`select ${columns}, v.manifest ${aVersion(values, ref, version)}`, values.list),
  );
}

/** The same with its content. */
export function findContent(
  db: Db,
  orgId: string,
  ref: AgentRef,
  version: string | undefined,
): Promise<(CatalogRow & { readonly content: Buffer }) | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<CatalogRow & { content: Buffer }>(
      `select ${columns}, null as manifest, v.content ${aVersion(values, ref, version)}`,
      values.list,
    ),
  );
}

const Cursor = z.tuple([z.string()]);

/** A page of the catalog by slug, each agent as its newest version says. */
export async function listAgents(db: Db, orgId: string, listed: Listed): Promise<Page> {
  const { query, tag, includeManifest, limit, cursor } = listed;
  const after = decodeCursor(cursor, Cursor);
  const values = new Values(orgId);
  const where = [`c.org_id = ${values.org}`];
  if (after !== undefined) where.push(`c.slug > ${values.$(after[0])}`);
  if (tag !== undefined) where.push(`${values.$(tag)} = any (v.tags)`);
  if (query !== undefined) {
    const pattern = values.$(containing(query));
    where.push(`(c.slug ilike ${pattern} or v.name ilike ${pattern} or v.description ilike ${pattern})`);
  }
  const rows = await db.all(
    sqlQuery<CatalogRow>(
      `select ${columns}, ${includeManifest ? 'v.manifest' : 'null as manifest'}
       from catalog_agents c join catalog_versions v
         on v.org_id = c.org_id and v.agent_id = c.id and v.version = c.latest_version
       where ${where.join(' and ')} order by c.slug limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.slug], toCatalogAgent);
}
