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

const execFileAsync = promisify(execFile);

/**
 * The error of a changed git configuration. The agent changed which programs git runs, so the runner makes no
 * more calls in that repository.
 */
export class GitConfigChangedError extends Error {
  constructor(file: string, keys: readonly string[], isGone: boolean) {
    super(
      isGone
        ? `git's configuration was removed while the agent ran: ${file}`
        : `git's configuration was changed while the agent ran: ${keys.join(', ') || 'it'} in ${file}`,
    );
  }
}

/**
 * Settings that an agent may change. They name no program that git runs by itself, and no other repository.
 */
const harmlessSettingPattern =
  /^(alias\.|branch\.|user\.(name|email)$|advice\.|color\.|pull\.|push\.default$|rerere\.|safe\.directory$)/;

interface RememberedConfig {
  text: string | undefined;
  readonly entries: ReadonlyMap<string, string>;
}

const rememberedConfigs = new Map<string, RememberedConfig>();
/** The watched files. Included files are added as they are found. */
const watchedFiles = new Set<string>();

const readIfExists = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  });

/** Reads every setting except the harmless ones, by its name. Included files are watched separately. */
async function readGuardedSettings(file: string, text: string | undefined): Promise<Map<string, string>> {
  if (text === undefined) return new Map();
  const { stdout } = await execFileAsync('git', ['config', '--file', file, '--no-includes', '--list', '-z'], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    cwd: '/',
  });
  const entries = new Map<string, string>();
  for (const entry of stdout.split('\0').filter((one) => one !== '')) {
    const end = entry.includes('\n') ? entry.indexOf('\n') : entry.length;
    const name = entry.slice(0, end);
    if (!harmlessSettingPattern.test(name))
      entries.set(name, `${entries.get(name) ?? ''}${entry.slice(end)}\0`);
  }
  return entries;
}

const homePath = (name: string): string => path.join(process.env['HOME'] ?? homedir(), name);

/** Lists the files that a git configuration file includes, even if they do not exist yet. */
const includedConfigFiles = (file: string, entries: ReadonlyMap<string, string>): string[] =>
  [...entries]
    .filter(([name]) => /^include(if\..*)?\.path$/s.test(name))
    .flatMap(([, values]) => values.split('\0').filter((value) => value.trim() !== ''))
    .map((value) => value.slice(1))
    .map((name) =>
      name.startsWith('~/') ? homePath(name.slice(2)) : path.resolve(path.dirname(file), name),
    );

/** Lists the person's global configuration files, which an agent could also change. */
function globalConfigFiles(): string[] {
  const { GIT_CONFIG_GLOBAL: named, XDG_CONFIG_HOME: folder } = process.env;
  if (named !== undefined) return named === '' ? [] : [named];
  return [
    path.join(folder === undefined || folder === '' ? homePath('.config') : folder, 'git/config'),
    homePath('.gitconfig'),
  ];
}

async function requireUnchanged(file: string): Promise<void> {
  const text = await readIfExists(file);
  const before = rememberedConfigs.get(file);
  if (before !== undefined && before.text === text) return;
  const entries = file.endsWith('commondir')
    ? new Map([['commondir', text ?? '']])
    : await readGuardedSettings(file, text);
  if (before === undefined) {
    rememberedConfigs.set(file, { text, entries });
    for (const included of includedConfigFiles(file, entries)) watchedFiles.add(included);
    return;
  }
  const names = new Set([...entries.keys(), ...before.entries.keys()]);
  const changed = [...names].filter((name) => entries.get(name) !== before.entries.get(name));
  if (changed.length > 0) throw new GitConfigChangedError(file, changed, text === undefined);
  before.text = text;
}

/**
 * Remembers the configuration of a repository and of the person. Call it before an agent runs in one of its
 * worktrees.
 */
export async function rememberTrustedConfig(commonDir: string): Promise<void> {
  for (const file of [path.join(commonDir, 'config'), ...globalConfigFiles()]) watchedFiles.add(file);
  await requireTrustedConfig(undefined);
}

/**
 * Throws {@link GitConfigChangedError} if a watched file, or the configuration of this worktree, has changed since it
 * was first read.
 */
export async function requireTrustedConfig(gitDir: string | undefined): Promise<void> {
  if (watchedFiles.size === 0) return;
  const own =
    gitDir === undefined ? [] : ['config.worktree', 'commondir'].map((name) => path.join(gitDir, name));
  for (const file of [...watchedFiles, ...own]) await requireUnchanged(file);
}

/** Returns a digest of the trusted configuration for the journal, which a later runner compares. */
export function trustedConfigDigest(): string {
  const all = [...watchedFiles].map((file) => [...(rememberedConfigs.get(file)?.entries ?? [])].toSorted());
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
