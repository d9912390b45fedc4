/** The repositories that are linked to projects. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type ForgeRepository,
  type ParamsOf,
  repositoryAddress,
  type Subject,
  subjectOf,
} from '@muster/contract';
import { type ForgesRegistry } from '@muster/forges-registry';
import { z } from 'zod';
import { type NamedRepository, normalizeRepositoryUrl, repositoryUrls } from '../rules/fact.ts';

export const repositories = defineRecord('forge_repositories', 'r', {
  connection_id: {},
  project_id: {},
  external_id: { initial: null },
  url: { initial: null },
  full_name: { initial: null },
  default_branch: { initial: null },
  linked_by: { hidden: true },
});
export type RepositoryRow = RowOf<typeof repositories>;

export const toRepository = (row: RepositoryRow): ForgeRepository => repositories.shown(row);

export const repositorySubject = (row: RepositoryRow): Subject =>
  subjectOf('repository', row, row.full_name ?? row.url ?? row.external_id ?? '');

/** The parameters with which callers name the link between a project and a repository of a connected forge. */
export interface RepositoryLinkRef {
  readonly connectionId: string;
  readonly externalId: string | undefined;
  readonly url: string | undefined;
}

const isLinkSql = ({
  connectionId,
  externalId,
  url,
}: RepositoryLinkRef) => sql.part`r.connection_id = ${connectionId}::uuid
  and ${externalId === undefined ? sql.part`r.url = any (${repositoryUrls(url ?? '')}::text[])` : sql.part`r.external_id = ${externalId}`}`;

export const findLink = (
  db: Db,
  projectId: IdOrSql,
  link: RepositoryLinkRef,
): Promise<RepositoryRow | undefined> =>
  db.find(
    sql<RepositoryRow>`select ${repositories.list} from forge_repositories r
       where ${orgFilter('r')} and r.project_id = ${projectId} and ${isLinkSql(link)} for no key update`,
  );

/** Locks the project, so that concurrent calls cannot exceed the limit of links. Returns its id. */
export const lockProjectForLink = (db: Db, projectId: IdOrSql): Promise<{ id: string }> =>
  db.get(
    sql<{
      id: string;
    }>`select p.id from projects p where ${orgFilter('p')} and p.id = ${projectId} for no key update`,
  );
export const countLinks = async (db: Db, projectId: IdOrSql): Promise<number> =>
  (
    await db.one(
      sql<{
        count: number;
      }>`select count(*)::int as count from forge_repositories r where ${orgFilter('r')} and r.project_id = ${projectId}`,
    )
  ).count;

export const deleteLink = (id: string): Query<unknown> =>
  sql`delete from forge_repositories where ${orgFilter()} and id = ${id}`;

const Cursor = z.tuple([CursorId]);

export async function listRepositories(
  db: Db,
  projectId: IdOrSql,
  { connectionId, limit, cursor }: ParamsOf<ForgesRegistry['forges']['repositories']['list']>,
): Promise<{ items: ForgeRepository[]; nextCursor: string | null }> {
  const where = [orgFilter('r'), sql.part`r.project_id = ${projectId}`];
  if (connectionId !== undefined) where.push(sql.part`r.connection_id = ${connectionId}::uuid`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`r.id > ${after[0]}::uuid`);
  const rows = await db.all(
    sql<RepositoryRow>`select ${repositories.list} from forge_repositories r
       join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null
       where ${sql.join(where, ' and ')} order by r.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toRepository);
}

/** A linked repository with the data needed to process deliveries in its project. */
export interface LinkedRepository {
  readonly id: string;
  readonly projectId: string;
  readonly projectKey: string;
  readonly connectionId: string;
  readonly kind: 'github' | 'gitlab' | 'gitea' | 'forgejo';
  readonly baseUrl: string;
  readonly defaultBranch: string | null;
}

const linkedRepositoryColumns = sql.part`r.id, r.project_id as "projectId", p.key as "projectKey", r.connection_id as "connectionId",
  c.kind, c.base_url as "baseUrl", r.default_branch as "defaultBranch"`;
const linkedRepositoryTables = sql.part`forge_repositories r
  join projects p on ${orgFilter('p')} and p.id = r.project_id
  join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null`;

/**
 * Locks the links of a repository, so that reports about it are recorded one after the other and none is
 * missed.
 */
export const lockLinkedRepositories = (
  db: Db,
  connectionId: string,
  { externalId, url }: NamedRepository,
): Promise<LinkedRepository[]> =>
  db.all(
    sql<LinkedRepository>`select ${linkedRepositoryColumns} from ${linkedRepositoryTables}
       where ${orgFilter('r')} and r.connection_id = ${connectionId}
         and (r.external_id = ${externalId} or (r.external_id is null and r.url = any (${repositoryUrls(url)}::text[])))
       order by r.id for no key update of r`,
  );

export const lockLinkedRepositoriesOfProject = (db: Db, projectId: string): Promise<LinkedRepository[]> =>
  db.all(
    sql<LinkedRepository>`select ${linkedRepositoryColumns} from ${linkedRepositoryTables}
       where ${orgFilter('r')} and r.project_id = ${projectId} order by r.id for no key update of r`,
  );

/** A repository of the project with its addresses, the current one first. */
export interface RepositoryAddresses {
  readonly id: string;
  readonly addresses: readonly string[];
}

/** Returns the current and former addresses of all repositories of a project. */
export const listRepositoryAddresses = async (db: Db, projectId: string): Promise<RepositoryAddresses[]> => {
  const rows = await db.all(
    sql<{
      id: string;
      url: string | null;
      former: string[];
    }>`select r.id, r.url, r.former_urls as former from ${linkedRepositoryTables}
       where ${orgFilter('r')} and r.project_id = ${projectId}`,
  );
  return rows.map(({ id, url, former }) => ({
    id,
    addresses: [...(url === null ? [] : [url]), ...former].map(repositoryAddress),
  }));
};

/**
 * Stores the id, URL, name and default branch that the forge reported for the repository. A renamed repository stays
 * linked by its id.
 */
export const storeRepositoryNames = (
  id: string,
  { externalId, url, fullName, defaultBranch }: NamedRepository,
): Query<unknown> =>
  sql`update forge_repositories r set external_id = ${externalId}, url = ${normalizeRepositoryUrl(url)},
       former_urls = case when r.url is null or r.url = ${normalizeRepositoryUrl(url)} then r.former_urls
         else (array_append(array_remove(r.former_urls, r.url), r.url))[greatest(1, cardinality(r.former_urls) - 18):] end,
       full_name = ${fullName},
       default_branch = coalesce(${defaultBranch}, r.default_branch)
     where ${orgFilter('r')} and r.id = ${id}
       and (r.external_id, r.url, r.full_name, r.default_branch) is distinct from
         (${externalId}, ${normalizeRepositoryUrl(url)}, ${fullName}, coalesce(${defaultBranch}, r.default_branch))
       and not exists (select from forge_repositories o where ${orgFilter('o')} and o.connection_id = r.connection_id
         and o.project_id = r.project_id and o.id <> r.id and (o.external_id = ${externalId} or o.url = ${normalizeRepositoryUrl(url)}))`;
