/** Addresses of pull requests and names of branches, however a browser, git or a person writes them. */
import { type ForgeKind } from './forge.ts';

/** The host and path of an address in the form that is compared: lower case, without scheme, `www.`, `.git` and slashes. */
const hostAndPath = (url: string): string =>
  url
    .trim()
    .toLowerCase()
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

const isAt = (forge: KnownForge, url: string): boolean =>
  `${hostAndPath(url)}/`.startsWith(`${hostAndPath(forge.baseUrl)}/`);

/**
 * The canonical address of a pull request: that of its page, with the scheme of the connection. Addresses of other forges
 * stay as they are. Null for an address of a connected forge that is no pull request, or one with another number.
 */
export function canonicalPullUrl(
  forges: readonly KnownForge[],
  url: string,
  number: number | null,
): string | null {
  const forge = forges.find((one) => isAt(one, url));
  if (forge === undefined) return url;
  const [, repository, segment = '', named] = pull.exec(hostAndPath(url)) ?? [];
  const path = pullPaths[forge.kind];
  const isPull = repository !== undefined && path.endsWith(`/${segment}/`) && Number(named) > 0;
  if (!isPull || (number !== null && Number(named) !== number)) return null;
  const scheme = /^http:/i.test(forge.baseUrl) ? 'http' : 'https';
  return `${scheme}://${repository}${path}${Number(named)}`;
}

/** `refs/heads/x`, `refs/remotes/origin/x` and `origin/x` are the branch `x`. */
export const branchName = (branch: string): string =>
  branch.replace(/^(?:refs\/heads\/|(?:refs\/)?remotes\/[^/]+\/|origin\/)(?=.)/, '');
