/** Addresses of pull requests and names of branches, however a browser, git or a person writes them. */
import { forgeApiRoot, type ForgeKind } from './forge.ts';

/** Host and path of an address as they are compared: lower case, without scheme, default port, `www.` and outer slashes. */
const hostAndPath = (url: string): string =>
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

/** Also of `git@host:owner/name.git`, as git writes addresses of ssh. */
export const repositoryAddress = (url: string): string =>
  hostAndPath(url.trim().replace(/^([^@/\s]+@[^:/]+):(?!\d+\/)/, '$1/')).replace(/\.git$/, '');

export interface PullAddress {
  /** The repository's address, as `repositoryAddress` writes it. */
  readonly repository: string;
  readonly number: number;
}

const pull = /^([^/]+(?:\/[^/]+){2,}?)(?:\/-)?\/(pull|pulls|merge_requests)\/(\d{1,9})(?:\/.*)?$/;

/** The pull request that an address belongs to, by the paths of all forges; undefined for other addresses. */
export function pullAddressOf(url: string): PullAddress | undefined {
  const [, repository, , number] = pull.exec(hostAndPath(url)) ?? [];
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

/** A forge that an organization is connected with. */
export interface KnownForge {
  readonly kind: ForgeKind;
  readonly baseUrl: string;
}

/** The part of an address below a root; undefined for addresses elsewhere. */
const partBelow = (root: string, address: string): string | undefined =>
  address.startsWith(`${root}/`) ? address.slice(root.length + 1) : undefined;

const pullInApi = /^(?:repos\/([^/]+\/[^/]+)\/pulls|projects\/([^/]+)\/merge_requests)\/(\d{1,9})(?:\/.*)?$/;

/** The pull request of an address in the API of a forge. GitLab's numbers of projects say nothing of their address. */
function pullOfApi(home: string, part: string): PullAddress | undefined {
  const [, repository, project = '', number] = pullInApi.exec(part) ?? [];
  const path = repository ?? (/^\d*$/.test(project) ? undefined : project.replaceAll('%2f', '/'));
  return path === undefined ? undefined : { repository: `${home}/${path}`, number: Number(number) };
}

/** The pull request of an address at a connected forge; null: the address is of no pull request, undefined: it is elsewhere. */
function pullAt({ kind, baseUrl }: KnownForge, url: string): PullAddress | null | undefined {
  const [home, address] = [hostAndPath(baseUrl), hostAndPath(url)];
  const inApi = partBelow(hostAndPath(forgeApiRoot(kind, baseUrl)), address);
  if (inApi !== undefined) return pullOfApi(home, inApi) ?? null;
  if (partBelow(home, `${address}/`) === undefined) return undefined;
  const [, repository, segment = '', number] = pull.exec(address) ?? [];
  const isPull = repository !== undefined && pullPaths[kind].endsWith(`/${segment}/`);
  return isPull ? { repository, number: Number(number) } : null;
}

/**
 * The canonical address of a pull request: that of its page, with the scheme of the connection. Addresses of other forges
 * stay as they are. Null for an address of a connected forge that is no pull request, or one with another number.
 */
export function canonicalPullUrl(
  forges: readonly KnownForge[],
  url: string,
  number: number | null,
): string | null {
  for (const forge of forges) {
    const found = pullAt(forge, url);
    if (found === undefined) continue;
    if (found === null || found.number === 0 || (number !== null && found.number !== number)) return null;
    const scheme = /^http:/i.test(forge.baseUrl) ? 'http' : 'https';
    return `${scheme}://${found.repository}${pullPaths[forge.kind]}${found.number}`;
  }
  return url;
}

/** `refs/heads/x`, `refs/remotes/origin/x` and `origin/x` are the branch `x`. */
export const branchName = (branch: string): string =>
  branch.replace(/^(?:refs\/heads\/|(?:refs\/)?remotes\/[^/]+\/|origin\/)(?=.)/, '');
