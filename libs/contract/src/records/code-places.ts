/** Normalization of pull request URLs and branch names as browsers, git and people write them. */
import { forgeApiRoot, type ForgeKind } from './forge.ts';

/**
 * Returns host and path of a URL for comparison: lower case, without scheme, default port, `www.` and outer
 * slashes.
 */
const normalizeUrl = (url: string): string =>
  url
    .trim()
    .toLowerCase()
    .replace(/^(https:\/\/[^/]*):443(?=\/|$)|^(http:\/\/[^/]*):80(?=\/|$)/, '$1$2')
    .replace(/^[a-z+]+:\/\//, '')
    .replace(/^[^/@]*@/, '')
    .replace(/^www\./, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+/g, '/')
    .replace(/\/$/, '');

/**
 * Normalizes the address of a repository. It also accepts `git@host:owner/name.git`, git's notation for ssh.
 */
export const repositoryAddress = (url: string): string =>
  normalizeUrl(url.trim().replace(/^([^@/\s]+@[^:/]+):(?!\d+\/)/, '$1/')).replace(/\.git$/, '');

export interface PullAddress {
  /** The repository's address in the notation of `repositoryAddress`. */
  readonly repository: string;
  readonly number: number;
}

const pullUrlPattern = /^([^/]+(?:\/[^/]+){2,}?)(?:\/-)?\/(pull|pulls|merge_requests)\/(\d{1,9})(?:\/.*)?$/;

/**
 * Finds the pull request that a URL belongs to, by the paths of all kinds of forges; undefined for other
 * URLs.
 */
export function parsePullUrl(url: string): PullAddress | undefined {
  const [, repository, , number] = pullUrlPattern.exec(normalizeUrl(url)) ?? [];
  return repository === undefined || Number(number) === 0
    ? undefined
    : { repository, number: Number(number) };
}

const pullPaths: Readonly<Record<ForgeKind, string>> = {
  github: '/pull/',
  gitlab: '/-/merge_requests/',
  gitea: '/pulls/',
  forgejo: '/pulls/',
};

/** A forge to which an organization is connected. */
export interface KnownForge {
  readonly kind: ForgeKind;
  readonly baseUrl: string;
}

/** Returns the part of an address below a root; undefined for other addresses. */
const relativePathOf = (root: string, address: string): string | undefined =>
  address.startsWith(`${root}/`) ? address.slice(root.length + 1) : undefined;

const pullApiPathPattern =
  /^(?:repos\/([^/]+\/[^/]+)\/pulls|projects\/([^/]+)\/merge_requests)\/(\d{1,9})(?:\/.*)?$/;

/**
 * Finds the pull request that a URL of a forge's API belongs to. A numeric project id of GitLab cannot be
 * converted to an address.
 */
function parsePullApiPath(home: string, apiPath: string): PullAddress | undefined {
  const [, repository, project = '', number] = pullApiPathPattern.exec(apiPath) ?? [];
  const path = repository ?? (/^\d*$/.test(project) ? undefined : project.replaceAll('%2f', '/'));
  return path === undefined ? undefined : { repository: `${home}/${path}`, number: Number(number) };
}

/**
 * Finds the pull request of a URL at a connected forge. Returns null if the URL is no pull request, and
 * undefined if it belongs to another host.
 */
function parsePullUrlAtForge({ kind, baseUrl }: KnownForge, url: string): PullAddress | null | undefined {
  const [home, address] = [normalizeUrl(baseUrl), normalizeUrl(url)];
  const inApi = relativePathOf(normalizeUrl(forgeApiRoot(kind, baseUrl)), address);
  if (inApi !== undefined) return parsePullApiPath(home, inApi) ?? null;
  if (relativePathOf(home, `${address}/`) === undefined) return undefined;
  const [, repository, segment = '', number] = pullUrlPattern.exec(address) ?? [];
  const isPull = repository !== undefined && pullPaths[kind].endsWith(`/${segment}/`);
  return isPull ? { repository, number: Number(number) } : null;
}

/**
 * Returns the canonical URL of a pull request, which is the URL of its page with the scheme of the
 * connection. URLs of other hosts stay unchanged. Returns null for a URL of a connected forge that is no pull
 * request, or one with another number.
 */
export function canonicalPullUrl(
  forges: readonly KnownForge[],
  url: string,
  number: number | null,
): string | null {
  for (const forge of forges) {
    const found = parsePullUrlAtForge(forge, url);
    if (found === undefined) continue;
    if (found === null || found.number === 0 || (number !== null && found.number !== number)) return null;
    const scheme = /^http:/i.test(forge.baseUrl) ? 'http' : 'https';
    return `${scheme}://${found.repository}${pullPaths[forge.kind]}${found.number}`;
  }
  return url;
}

/** Normalizes a branch name: `refs/heads/x`, `refs/remotes/origin/x` and `origin/x` become `x`. */
export const shortBranchName = (branch: string): string =>
  branch.replace(/^(?:refs\/heads\/|(?:refs\/)?remotes\/[^/]+\/|origin\/)(?=.)/, '');
