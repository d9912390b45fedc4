/**
 * Checks that git's configuration of the repository is what it was before an agent could change it. Configuration names programs
 * that git runs (filters, file watchers, credential helpers, ssh), and the runner's calls have more rights than the agent.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The agent changed what git would run; the runner makes no more calls in that repository. */
export class ConfigChanged extends Error {
  constructor(file: string, keys: readonly string[]) {
    super(`git's configuration was changed while the agent ran: ${keys.join(', ') || 'it'} in ${file}`);
  }
}

/** Settings that name no program and no other repository: an agent may change them. */
const harmless = /^(branch\.|user\.(name|email)$|advice\.|color\.|pull\.|push\.default$|rerere\.)/;

interface Remembered {
  text: string | undefined;
  readonly entries: ReadonlyMap<string, string>;
}

const remembered = new Map<string, Remembered>();

const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  });

/** Every setting but the harmless ones, by its name; includes are not followed, since a change of them shows by their names. */
async function entriesOf(file: string, text: string | undefined): Promise<Map<string, string>> {
  if (text === undefined) return new Map();
  const { stdout } = await run('git', ['config', '--file', file, '--no-includes', '--list', '-z'], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    cwd: '/',
  });
  const entries = new Map<string, string>();
  for (const entry of stdout.split('\0').filter((one) => one !== '')) {
    const end = entry.includes('\n') ? entry.indexOf('\n') : entry.length;
    const name = entry.slice(0, end);
    if (!harmless.test(name)) entries.set(name, `${entries.get(name) ?? ''}${entry.slice(end)}\0`);
  }
  return entries;
}

async function requireUnchanged(file: string): Promise<void> {
  const text = await textOf(file);
  const before = remembered.get(file);
  if (before !== undefined && before.text === text) return;
  const entries = file.endsWith('commondir')
    ? new Map([['commondir', text ?? '']])
    : await entriesOf(file, text);
  if (before === undefined) {
    remembered.set(file, { text, entries });
    return;
  }
  const names = new Set([...entries.keys(), ...before.entries.keys()]);
  const changed = [...names].filter((name) => entries.get(name) !== before.entries.get(name));
  if (changed.length > 0) throw new ConfigChanged(file, changed);
  before.text = text;
}

const watched = new Set<string>();

/** Remembers the configuration that all worktrees of a repository share, from before an agent runs in one of them. */
export async function trustConfig(commonDir: string): Promise<void> {
  watched.add(path.join(commonDir, 'config'));
  await requireTrustedConfig(undefined);
}

/** Throws {@link ConfigChanged} where the shared configuration, or that of this worktree, is not what it was at first sight. */
export async function requireTrustedConfig(gitDir: string | undefined): Promise<void> {
  if (watched.size === 0) return;
  const own =
    gitDir === undefined ? [] : ['config.worktree', 'commondir'].map((name) => path.join(gitDir, name));
  for (const file of [...watched, ...own]) await requireUnchanged(file);
}

/** A digest of the shared configuration as it is trusted, for the journal: a later runner compares it. */
export function trustedDigest(): string {
  const all = [...watched].map((file) => [...(remembered.get(file)?.entries ?? [])].toSorted());
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
