/** The forge of a remote: where it is, of which kind, and how the repository is called there. */
import { type ForgeKind, isOfGitHub } from '@muster/registry';
import { type Repository } from '../repository.ts';

export interface Forge {
  readonly kind: ForgeKind;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** `owner/name`; GitLab has groups within groups. */
  readonly fullName: string;
}

type Place = Omit<Forge, 'kind'>;

const known: Readonly<Record<string, ForgeKind>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'forgejo',
  'gitea.com': 'gitea',
};
/** How people call hosts of their own. */
const usual: Readonly<Record<string, ForgeKind>> = {
  github: 'github',
  gitlab: 'gitlab',
  gitea: 'gitea',
  forgejo: 'forgejo',
};

/** Of `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name.git`. */
export function parseRemote(remote: string): Place | undefined {
  const [, scpHost, scpPath] = /^(?:[^/@:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const address = scpHost === undefined ? remote : `ssh://${scpHost}/${scpPath ?? ''}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!['http:', 'https:', 'ssh:'].includes(url.protocol)) return undefined;
  const fullName = url.pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  if (!/^[\w.-]+(?:\/[\w.-]+)+$/.test(fullName)) return undefined;
  // What ssh goes to has its pages at the usual port; by the port of pages it goes to a name beside.
  const host = url.hostname.replace(/^(?:alt)?ssh\.(github|gitlab)\.com$/, '$1.com');
  const baseUrl = url.protocol === 'ssh:' ? `https://${host}` : url.origin;
  return { baseUrl, fullName };
}

const kindOf = ({ baseUrl }: Place): ForgeKind | undefined => {
  const { hostname } = new URL(baseUrl);
  return (
    known[hostname] ?? usual[hostname.split('.')[0] ?? ''] ?? (isOfGitHub(hostname) ? 'github' : undefined)
  );
};

/** Undefined where the remote is at no forge that is known. */
export async function findForge(
  { git, remote }: Repository,
  wished: ForgeKind | undefined,
): Promise<Forge | undefined> {
  if (remote === undefined) return undefined;
  const { out } = await git.ask(['config', '--get', `remote.${remote}.url`], { answers: [0, 1] });
  // As it is written, else as git's own short names make it.
  for (const written of [out.trim(), await git(['remote', 'get-url', remote])]) {
    const place = parseRemote(written);
    if (place === undefined) continue;
    const kind = wished ?? kindOf(place);
    if (kind !== undefined) return { kind, ...place };
  }
  return undefined;
}
