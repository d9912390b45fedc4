/**
 * Checks that git's configuration of the repository is what it was before an agent could change it. Configuration names programs
 * that git runs (filters, file watchers, credential helpers, ssh), and the runner's calls have more rights than the agent.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The agent changed what git would run; the runner makes no more calls in that repository. */
export class ConfigChanged extends Error {
  constructor(file: string, keys: readonly string[], isGone: boolean) {
    super(
      isGone
        ? `git's configuration was removed while the agent ran: ${file}`
        : `git's configuration was changed while the agent ran: ${keys.join(', ') || 'it'} in ${file}`,
    );
  }
}

/** Settings that name no program that git runs by itself, and no other repository: an agent may change them. */
const harmless =
  /^(alias\.|branch\.|user\.(name|email)$|advice\.|color\.|pull\.|push\.default$|rerere\.|safe\.directory$)/;

interface Remembered {
  text: string | undefined;
  readonly entries: ReadonlyMap<string, string>;
}

const remembered = new Map<string, Remembered>();
/** It grows by included files as they are found. */
const watched = new Set<string>();

const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  });

/** Every setting but the harmless ones, by its name. Files that are included are watched by themselves. */
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

const atHome = (name: string): string => path.join(process.env['HOME'] ?? homedir(), name);

/** Files that a file includes, also those that are not there yet. */
const includesIn = (file: string, entries: ReadonlyMap<string, string>): string[] =>
  [...entries]
    .filter(([name]) => /^include(if\..*)?\.path$/s.test(name))
    .flatMap(([, values]) => values.split('\0').filter((value) => value.trim() !== ''))
    .map((value) => value.slice(1))
    .map((name) => (name.startsWith('~/') ? atHome(name.slice(2)) : path.resolve(path.dirname(file), name)));

/** Configuration of the person, for all their repositories. An agent knows where they are. */
function globalFiles(): string[] {
  const { GIT_CONFIG_GLOBAL: named, XDG_CONFIG_HOME: folder } = process.env;
  if (named !== undefined) return named === '' ? [] : [named];
  return [
    path.join(folder === undefined || folder === '' ? atHome('.config') : folder, 'git/config'),
    atHome('.gitconfig'),
  ];
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
    for (const included of includesIn(file, entries)) watched.add(included);
    return;
  }
  const names = new Set([...entries.keys(), ...before.entries.keys()]);
  const changed = [...names].filter((name) => entries.get(name) !== before.entries.get(name));
  if (changed.length > 0) throw new ConfigChanged(file, changed, text === undefined);
  before.text = text;
}

/** Remembers the configuration of a repository and of the person, from before an agent runs in one of its worktrees. */
export async function trustConfig(commonDir: string): Promise<void> {
  for (const file of [path.join(commonDir, 'config'), ...globalFiles()]) watched.add(file);
  await requireTrustedConfig(undefined);
}

/** Throws {@link ConfigChanged} where watched configuration, or that of this worktree, is not what it was at first sight. */
export async function requireTrustedConfig(gitDir: string | undefined): Promise<void> {
  if (watched.size === 0) return;
  const own =
    gitDir === undefined ? [] : ['config.worktree', 'commondir'].map((name) => path.join(gitDir, name));
  for (const file of [...watched, ...own]) await requireUnchanged(file);
}

/** A digest of the watched configuration as it is trusted, for the journal: a later runner compares it. */
export function trustedDigest(): string {
  const all = [...watched].map((file) => [...(remembered.get(file)?.entries ?? [])].toSorted());
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
