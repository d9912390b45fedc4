/** The person's own credentials for a forge, from the environment or from the forge's command line. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isOfGitHub } from '@muster/registry';
import { startedWith } from '../secrets.ts';
import { type Forge } from './remote.ts';

const run = promisify(execFile);
const patienceMillis = 10_000;

/** Returns the output of a command. Returns undefined if the command is not installed or has no token. */
const printed = (command: string, ...args: string[]): Promise<string | undefined> =>
  run(command, args, { timeout: patienceMillis }).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );

const ofEnvironment = (...names: readonly string[]): string | undefined =>
  names.map(startedWith).find((value) => value !== undefined && value !== '');

/**
 * Finds a token in the places where `gh` and `glab` look. A token for GitHub's own hosts is never sent to
 * another host.
 */
export async function findToken({ kind, baseUrl }: Forge): Promise<string | undefined> {
  const { host } = new URL(baseUrl);
  switch (kind) {
    case 'github': {
      const names = isOfGitHub(host)
        ? ['GH_TOKEN', 'GITHUB_TOKEN']
        : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
      return ofEnvironment(...names) ?? printed('gh', 'auth', 'token', '--hostname', host);
    }
    case 'gitlab':
      return (
        ofEnvironment('GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN') ??
        printed('glab', 'config', 'get', 'token', '--host', host)
      );
    case 'gitea':
      return ofEnvironment('GITEA_TOKEN');
    case 'forgejo':
      return ofEnvironment('FORGEJO_TOKEN', 'GITEA_TOKEN');
  }
}
