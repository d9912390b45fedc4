/** The person's own credentials at a forge: of the environment, else of the forge's own command line. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isOfGitHub } from '@muster/registry';
import { startedWith } from '../secrets.ts';
import { type Forge } from './remote.ts';

const run = promisify(execFile);
const patienceMillis = 10_000;

/** What a command prints; undefined where it is not there, or knows none. */
const printed = (command: string, ...args: string[]): Promise<string | undefined> =>
  run(command, args, { timeout: patienceMillis }).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );

const ofEnvironment = (...names: readonly string[]): string | undefined =>
  names.map(startedWith).find((value) => value !== undefined && value !== '');

/** As `gh` and `glab` look for them; a token of what GitHub runs itself goes to no other host. */
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
