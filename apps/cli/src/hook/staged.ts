/** The files of the commit that git is about to make. */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const maxOutputBytes = 64 * 1024 * 1024;

async function runGit(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [...args], { maxBuffer: maxOutputBytes });
  return stdout;
}

/** Lists the staged files. A merge has none, because its files were changed by other commits. */
export async function listStagedFiles(): Promise<string[]> {
  const mergeHead = (await runGit('rev-parse', '--git-path', 'MERGE_HEAD')).trim();
  const isMerge = await access(path.resolve(mergeHead)).then(
    () => true,
    () => false,
  );
  if (isMerge) return [];
  const names = await runGit('diff', '--cached', '--name-only', '--no-renames', '-z');
  return names.split('\0').filter((name) => name !== '');
}
