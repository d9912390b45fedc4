/**
 * Converts the addresses of pull requests that callers send to the canonical form for the connected forges.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type ApiError, canonicalPullUrl, type GitMeta, type KnownForge } from '@muster/contract';
import { type z } from 'zod';

interface PullRequestContext {
  readonly db: Db;
  readonly refuse: (reason: 'invalid_pull_request', details: Readonly<Record<string, unknown>>) => ApiError;
}

interface PullRequestAddress {
  readonly number: number;
  readonly url: string;
}

const findConnectedForges = (db: Db): Promise<KnownForge[]> =>
  db.all(
    sql<KnownForge>`select c.kind, c.base_url as "baseUrl" from forge_connections c
       where ${orgFilter('c')} and c.deleted_at is null order by c.id`,
  );

/**
 * Returns the canonical address; null for an address of a connected forge that is not this pull request.
 * Addresses of other hosts stay unchanged.
 */
export const canonicalPullUrlOf = async (
  db: Db,
  url: string,
  number: number | null,
): Promise<string | null> => canonicalPullUrl(await findConnectedForges(db), url, number);

/**
 * Returns the pull request with its canonical address. Refuses an address of a connected forge that is not
 * this pull request.
 */
export async function withCanonicalUrl<Given extends PullRequestAddress>(
  { db, refuse }: PullRequestContext,
  pull: Given,
): Promise<Given> {
  const url = await canonicalPullUrlOf(db, pull.url, pull.number);
  if (url === null) throw refuse('invalid_pull_request', { url: pull.url, number: pull.number });
  return { ...pull, url };
}

/** Returns the code that a caller reports, with the canonical address of its pull request. */
export async function withCanonicalPullRequest<Given extends z.output<typeof GitMeta> | null | undefined>(
  context: PullRequestContext,
  git: Given,
): Promise<Given> {
  return git?.pullRequest == null
    ? git
    : { ...git, pullRequest: await withCanonicalUrl(context, git.pullRequest) };
}
