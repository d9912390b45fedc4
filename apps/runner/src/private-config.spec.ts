import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const execFileAsync = promisify(execFile);

let folder: string;
let realGit: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-private-')));
  realGit = (await execFileAsync('sh', ['-c', 'command -v git'])).stdout.trim();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (...names: string[]): string => path.join(folder, ...names);
const isThere = (name: string): Promise<boolean> =>
  access(name).then(
    () => true,
    () => false,
  );
const environment = (): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: file('state'), GIT_CONFIG_NOSYSTEM: '1' },
});
const git = async (...args: string[]): Promise<string> =>
  (await execFileAsync(realGit, args, { cwd: file('checkout'), env: environment() })).stdout.trim();

async function createCheckout(): Promise<void> {
  await mkdir(file('checkout'));
  await writeFile(file('spy'), `#!/bin/sh\ntouch ${file('ran')}\ncat\n`, { mode: 0o755 });
  await writeFile(file('.gitconfig'), '[include]\n\tpath = more\n[user]\n\tname = "Ana \\"A\\" \\\\ B"\n');
  await writeFile(file('more'), '[filter "upper"]\n\tclean = tr a-z A-Z\n\trequired\n');
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.email', 'ana@example.com');
  await git('config', 'extensions.worktreeConfig', 'true');
  await git('config', '--worktree', 'core.sparseCheckout', 'false');
  await writeFile(file('checkout/.gitattributes'), '*.txt filter=upper\n*.md filter=x\n');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'First');
  await git('init', '--quiet', '--bare', file('remote.git'));
  // The path of the remote is relative to the checkout.
  await git('remote', 'add', 'origin', '../remote.git');
}

/**
 * A `git` that changes the configuration after the runner has checked it and before git reads it, and restores
 * it afterwards, as an agent that runs at the same time can do.
 */
function raceOf(change: string): string {
  const own = file('checkout/.git/worktrees/work/config.worktree');
  const files = [file('checkout/.git/config'), file('.gitconfig'), own];
  const copies = files.map((name, index) => [name, file(`saved-${index}`)] as const);
  return `#!/bin/sh
if [ "$1" = config ]; then exec ${realGit} "$@"; fi
${copies.map(([from, to]) => `cp ${from} ${to}`).join('\n')}
change() { env -u GIT_DIR -u GIT_COMMON_DIR -u GIT_CONFIG_GLOBAL ${realGit} config --file "$@"; }
${change
  .replaceAll('LOCAL', files[0] ?? '')
  .replaceAll('GLOBAL', files[1] ?? '')
  .replaceAll('OWN', own)}
${realGit} "$@"; code=$?
${copies.map(([to, from]) => `cp ${from} ${to}`).join('\n')}
exit $code
`;
}

/** The program of a runner that adds a worktree, and then makes the git calls of its argument. */
const program = `
  import { writeFileSync } from 'node:fs';
  const load = (name) => import(${JSON.stringify(`${import.meta.dirname}/`)} + name + '.ts');
  const [{ findRepository }, { rememberTrustedConfig }, { usePrivateConfig }, { addWorktree, removeWorktree }] =
    await Promise.all(['repository', 'trusted-config', 'private-config', 'worktree'].map(load));
  const [checkout, folder, bin, files, calls] = JSON.parse(process.argv[1]);
  const repository = await findRepository(checkout);
  await rememberTrustedConfig(repository.commonDir, repository.gitDir);
  await usePrivateConfig(repository);
  const startSha = await repository.git(['rev-parse', 'HEAD']);
  const worktree = await addWorktree(repository, { branch: 'work', folder, startSha });
  for (const [name, text] of Object.entries(files)) writeFileSync(name, text);
  process.env.PATH = bin + ':' + process.env.PATH;
  const answers = [];
  for (const [place, ...args] of calls) {
    if (place === 'remove') await removeWorktree(repository, worktree, { branch: 'work', ref: 'refs/heads/main' });
    else answers.push(await (place === 'worktree' ? worktree : repository).git(args));
  }
  console.log(JSON.stringify(answers));
`;

async function callGit(
  change: string,
  files: Readonly<Record<string, string>>,
  calls: readonly (readonly string[])[],
): Promise<string[]> {
  await createCheckout();
  await mkdir(file('bin'));
  await writeFile(file('bin/git'), raceOf(change), { mode: 0o755 });
  const input = JSON.stringify([file('checkout'), file('work'), file('bin'), files, calls]);
  const { stdout } = await execFileAsync(process.execPath, ['--input-type=module', '-e', program, input], {
    env: environment(),
    cwd: import.meta.dirname,
  });
  return JSON.parse(stdout) as string[];
}

describe('the configuration that git reads', () => {
  it.each([
    ['a filter', 'change LOCAL filter.x.clean SPY'],
    ['a filter for all repositories', 'change GLOBAL filter.x.clean SPY'],
    ['an include', 'change PLACE filter.x.clean SPY; change LOCAL include.path PLACE'],
    ['a configuration of the worktree', 'change OWN filter.x.clean SPY'],
  ])('is the one that was checked, although an agent adds in between: %s', async (_name, change) => {
    const [, text] = await callGit(
      change.replaceAll('SPY', file('spy')).replaceAll('PLACE', file('planted')),
      { [file('work/a.md')]: 'text' },
      [
        ['worktree', 'add', '--all'],
        ['worktree', 'show', ':a.md'],
      ],
    );
    expect(await isThere(file('ran'))).toBe(false);
    expect(text).toBe('text');
  });

  it('keeps the remote of a push', async () => {
    await execFileAsync(realGit, ['init', '--quiet', '--bare', file('other.git')], { env: environment() });
    await callGit(`change LOCAL remote.origin.pushurl ${file('other.git')}`, {}, [
      ['repository', 'push', '--quiet', 'origin', 'HEAD:refs/heads/main'],
    ]);
    expect(await git('ls-remote', file('remote.git'))).toContain('refs/heads/main');
    expect(await git('ls-remote', file('other.git'))).toBe('');
  });

  it('has the settings of the person, also of included files', async () => {
    const answers = await callGit('', { [file('work/a.txt')]: 'loud' }, [
      ['worktree', 'add', '--all'],
      ['worktree', 'show', ':a.txt'],
      ['worktree', 'config', 'user.name'],
      ['worktree', 'config', 'user.email'],
    ]);
    expect(answers).toEqual(['', 'LOUD', 'Ana "A" \\ B', 'ana@example.com']);
  });
});

describe('a worktree', () => {
  it("is one for the person's git too", async () => {
    await callGit('', {}, []);
    expect(await readFile(file('work/.git'), 'utf8')).toBe(
      `gitdir: ${file('checkout/.git/worktrees/work')}\n`,
    );
    expect(await git('-C', file('work'), 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('work');
    expect(await git('-C', file('work'), 'config', '--worktree', 'core.sparseCheckout')).toBe('false');
  });

  it('is removed with its branch', async () => {
    await callGit('', {}, [['remove']]);
    expect(await git('worktree', 'list', '--porcelain')).not.toContain(file('work'));
    expect(await git('branch', '--list', 'work')).toBe('');
  });
});
