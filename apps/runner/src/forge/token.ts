/** The person's own credentials for a forge, from the environment or from the forge's command line. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isGitHubHost } from '@muster/contract';
import { originalEnvironmentValue } from '../secrets.ts';
import { type Forge } from './remote.ts';

const execFileAsync = promisify(execFile);
const commandTimeoutMillis = 10_000;

/** Returns the output of a command. Returns undefined if the command is not installed or has no token. */
const commandOutput = (command: string, ...args: string[]): Promise<string | undefined> =>
  execFileAsync(command, args, { timeout: commandTimeoutMillis }).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );

const firstEnvironmentValue = (...names: readonly string[]): string | undefined =>
  names.map(originalEnvironmentValue).find((value) => value !== undefined && value !== '');

/**
 * Finds a token in the places where `gh` and `glab` look. A token for GitHub's own hosts is never sent to
 * another host.
 */
export async function findForgeToken({ kind, baseUrl }: Forge): Promise<string | undefined> {
  const { host } = new URL(baseUrl);
  switch (kind) {
    case 'github': {
      const names = isGitHubHost(host)
        ? ['GH_TOKEN', 'GITHUB_TOKEN']
        : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
      return firstEnvironmentValue(...names) ?? commandOutput('gh', 'auth', 'token', '--hostname', host);
    }
    case 'gitlab':
      return (
        firstEnvironmentValue('GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN') ??
        commandOutput('glab', 'config', 'get', 'token', '--host', host)
      );
    case 'gitea':
      return firstEnvironmentValue('GITEA_TOKEN');
    case 'forgejo':
      return firstEnvironmentValue('FORGEJO_TOKEN', 'GITEA_TOKEN');
  }
}
