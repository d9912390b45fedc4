/** The forge of a remote: its address, its kind, and the full name of the repository. */
import { type ForgeKind, isGitHubHost } from '@muster/contract';
import { type Repository } from '../repository.ts';

export interface Forge {
  readonly kind: ForgeKind;
  /** The address without a trailing slash. */
  readonly baseUrl: string;
  /** The path of the repository, such as `owner/name`. GitLab has nested groups. */
  readonly fullName: string;
}

type RemoteAddress = Omit<Forge, 'kind'>;

const forgeKindByHost: Readonly<Record<string, ForgeKind>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'forgejo',
  'gitea.com': 'gitea',
};
/**
 * The kind of a self-hosted forge by the first label of its host name, such as `gitlab` in
 * gitlab.example.com.
 */
const forgeKindByHostLabel: Readonly<Record<string, ForgeKind>> = {
  github: 'github',
  gitlab: 'gitlab',
  gitea: 'gitea',
  forgejo: 'forgejo',
};

/** Parses `https://host/owner/name.git`, `ssh://git@host:22/owner/name` and `git@host:owner/name.git`. */
export function parseRemote(remote: string): RemoteAddress | undefined {
  const [, scpHost, scpPath] = /^(?:[^/@:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const address = scpHost === undefined ? remote : `ssh://${scpHost}/${scpPath ?? ''}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!['http:', 'https:', 'ssh:'].includes(url.protocol)) return undefined;
  const fullName = url.pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  if (!/^[\w.-]+(?:\/[\w.-]+)+$/.test(fullName)) return undefined;
  // The pages of an ssh remote are at the usual HTTPS port. Hosts such as ssh.github.com serve ssh at the
  // HTTPS port; their pages are at github.com.
  const host = url.hostname.replace(/^(?:alt)?ssh\.(github|gitlab)\.com$/, '$1.com');
  const baseUrl = url.protocol === 'ssh:' ? `https://${host}` : url.origin;
  return { baseUrl, fullName };
}

const guessForgeKind = ({ baseUrl }: RemoteAddress): ForgeKind | undefined => {
  const { hostname } = new URL(baseUrl);
  return (
    forgeKindByHost[hostname] ??
    forgeKindByHostLabel[hostname.split('.')[0] ?? ''] ??
    (isGitHubHost(hostname) ? 'github' : undefined)
  );
};

/** Returns undefined if the remote is not at a known forge. */
export async function findForge(
  { git, remote }: Repository,
  configuredKind: ForgeKind | undefined,
): Promise<Forge | undefined> {
  if (remote === undefined) return undefined;
  const { stdout } = await git.ask(['config', '--get', `remote.${remote}.url`], { allowedExitCodes: [0, 1] });
  // Tries the address as configured, then as git expands its short names.
  for (const written of [stdout.trim(), await git(['remote', 'get-url', remote])]) {
    const place = parseRemote(written);
    if (place === undefined) continue;
    const kind = configuredKind ?? guessForgeKind(place);
    if (kind !== undefined) return { kind, ...place };
  }
  return undefined;
}
