/**
 * Checks that git's configuration of the repository is what it was before an agent could change it. Configuration names programs
 * that git runs (filters, file watchers, credential helpers, ssh), and the runner's calls have more rights than the agent.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';

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

/** A setting in the order of its file. A setting without a value is true. */
export type GitSetting = readonly [name: string, value: string | undefined];

interface RememberedConfig {
  text: string | undefined;
  readonly settings: readonly GitSetting[];
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

/** Parses a configuration. Git gets the text that was read and compared, and does not open the file again. */
async function parseSettings(text: string): Promise<GitSetting[]> {
  if (text === '') return [];
  const git = spawn('git', ['config', '--file', '-', '--no-includes', '--list', '-z'], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    git.once('error', reject).once('close', resolve);
  });
  git.stdin.on('error', () => undefined).end(text);
  const [code, out, problem] = await Promise.all([ended, readAll(git.stdout), readAll(git.stderr)]);
  if (code !== 0) throw new Error(`git cannot read its configuration: ${problem.trim()}`);
  return out
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1 ? [entry, undefined] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

/** Joins the values of each setting that an agent must not change. */
function guardedEntries(settings: readonly GitSetting[]): Map<string, string> {
  const entries = new Map<string, string>();
  for (const [name, value] of settings) {
    if (harmlessSettingPattern.test(name)) continue;
    entries.set(name, `${entries.get(name) ?? ''}${value === undefined ? '' : `\n${value}`}\0`);
  }
  return entries;
}

const homePath = (name: string): string => path.join(process.env['HOME'] ?? homedir(), name);

export const isInclude = (name: string): boolean => /^include(if\..*)?\.path$/s.test(name);

/** Returns the absolute path of a file that `file` includes as `name`. */
export const includedFilePath = (file: string, name: string): string =>
  name.startsWith('~/') ? homePath(name.slice(2)) : path.resolve(path.dirname(file), name);

/** Lists the files that a git configuration file includes, even if they do not exist yet. */
const includedConfigFiles = (file: string, settings: readonly GitSetting[]): string[] =>
  settings.flatMap(([name, value = '']) =>
    isInclude(name) && value.trim() !== '' ? [includedFilePath(file, value)] : [],
  );

/** Lists the person's global configuration files, which an agent could also change. */
export function globalConfigFiles(): string[] {
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
  const settings: GitSetting[] = file.endsWith('commondir')
    ? [['commondir', text]]
    : await parseSettings(text ?? '');
  const entries = guardedEntries(settings);
  if (before === undefined) {
    rememberedConfigs.set(file, { text, settings, entries });
    for (const included of includedConfigFiles(file, settings)) watchedFiles.add(included);
    return;
  }
  const names = new Set([...entries.keys(), ...before.entries.keys()]);
  const changed = [...names].filter((name) => entries.get(name) !== before.entries.get(name));
  if (changed.length > 0) throw new GitConfigChangedError(file, changed, text === undefined);
  before.text = text;
}

/** Returns the settings of a file as they were first read. */
export const rememberedSettings = (file: string): readonly GitSetting[] =>
  rememberedConfigs.get(file)?.settings ?? [];

/**
 * Remembers the configuration of the person, and of a repository with the checkout whose git directory is
 * `gitDir`. Call it before an agent runs in one of its worktrees.
 */
export async function rememberTrustedConfig(commonDir: string, gitDir: string): Promise<void> {
  const config = path.join(commonDir, 'config');
  for (const file of [config, ...globalConfigFiles()]) watchedFiles.add(file);
  await requireTrustedConfig(undefined);
  if (hasWorktreeConfig(config)) watchedFiles.add(path.join(gitDir, 'config.worktree'));
  await requireTrustedConfig(gitDir);
}

/** Returns true if git reads `config.worktree` too. */
export function hasWorktreeConfig(config: string): boolean {
  const [, value = 'true'] =
    rememberedSettings(config).findLast(([name]) => name === 'extensions.worktreeconfig') ??
    (['', 'false'] as const);
  return /^(true|yes|on|[1-9]\d*)$/i.test(value);
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
