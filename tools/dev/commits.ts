// npm run commits: checks the messages of commits with commitlint. It begins after the commit that added
// commitlint.config.js, because older messages follow other rules. Merge commits are not checked: git and
// forges write their messages.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import format from '@commitlint/format';
import lint from '@commitlint/lint';
import load from '@commitlint/load';
import { repositoryRoot } from './repository.ts';

/** Returns the output of git, or undefined if git fails or is missing. */
function git(folder: string, ...args: string[]): string | undefined {
  // Without the ceiling git would search for a repository above an unpacked archive.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(folder) };
  const { status, stdout } = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Returns the messages to check, or the reason why there are none. */
function messagesOf(folder: string): string[] | string {
  const added = git(folder, 'log', '--diff-filter=A', '--format=%H', '--', 'commitlint.config.js');
  if (added === undefined) return 'There is no git repository with commits here';
  // A shallow clone's oldest commit adds every file, so the check begins after that commit.
  const first = added.split('\n').at(-1) ?? '';
  if (first === '') return 'No commit has commitlint.config.js yet';
  const messages = git(folder, 'log', '--no-merges', '--format=%B%x00', `${first}..HEAD`) ?? '';
  const written = messages.split('\0').filter((message) => message.trim() !== '');
  return written.length === 0 ? `No commit follows ${first.slice(0, 12)}` : written;
}

/** Prints the violations, and returns the exit code. */
export async function checkCommits(folder: string): Promise<number> {
  const messages = messagesOf(folder);
  if (typeof messages === 'string') {
    console.log(`${messages}: no commit message to check.`);
    return 0;
  }
  const { rules, parserPreset } = await load({}, { cwd: folder });
  const options = { parserOpts: parserPreset?.parserOpts } as Parameters<typeof lint>[2];
  const results = await Promise.all(messages.map((message) => lint(message.trim(), rules, options)));
  const broken = results.filter(({ valid }) => !valid);
  if (broken.length > 0) console.error(format({ results: broken }));
  console.log(`Checked ${results.length} commit messages: ${broken.length} break the rules.`);
  return broken.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await checkCommits(repositoryRoot);
