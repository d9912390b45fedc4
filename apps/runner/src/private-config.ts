/**
 * A copy of git's trusted configuration that agents cannot change. Git reads its configuration again each
 * time it starts, so an agent could change the files after they were checked. The runner's git therefore
 * reads the settings as they were first checked, from a folder outside of the repository: `GIT_COMMON_DIR`
 * names a folder with the copy and with links to everything else that the worktrees share.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import {
  type GitSetting,
  globalConfigFiles,
  hasWorktreeConfig,
  includedFilePath,
  isInclude,
  rememberedSettings,
} from './trusted-config.ts';

interface GitDirectories {
  /** The git directory of the checkout in which the runner was started. */
  readonly gitDir: string;
  /** The git directory that all worktrees share. */
  readonly commonDir: string;
}

/**
 * The entries of a common git directory that git finds through a link. `config` is the copy. Hooks, and the
 * old files that define remotes, are left out: they name programs or other repositories.
 */
const linkedNames = [
  ...['HEAD', 'common', 'info', 'lfs', 'logs', 'modules', 'objects', 'packed-refs', 'refs', 'reftable'],
  ...['rr-cache', 'shallow', 'worktrees'],
];

/** Folders that git creates when it needs them, but not as the target of a link. */
const neededFolders = ['info', 'logs', 'worktrees'];

const privateConfigsFolder = (): string => {
  const { XDG_STATE_HOME: state, HOME: home = homedir() } = process.env;
  return path.join(
    state === undefined || state === '' ? path.join(home, '.local/state') : state,
    'muster/git',
  );
};

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

function formatSetting([name, value]: GitSetting): string {
  const first = name.indexOf('.');
  const last = name.lastIndexOf('.');
  const subsection = first === last ? '' : ` ${quote(name.slice(first + 1, last))}`;
  const assigned = value === undefined ? '' : ` = ${quote(value)}`;
  return `[${name.slice(0, first)}${subsection}]\n\t${name.slice(last + 1)}${assigned}\n`;
}

const copyNameOf = (file: string): string =>
  `included-${createHash('sha256').update(file).digest('hex').slice(0, 32)}`;

/**
 * Formats the remembered settings of a file. Each included file gets a copy in `copies`, and the setting names
 * that copy. The settings of branches are left out, because the runner does not use them and they change often.
 */
function formatConfigFile(file: string, copies: Map<string, string>): string {
  const copySetting = ([name, value = '']: GitSetting): GitSetting => {
    const included = includedFilePath(file, value);
    const copyName = copyNameOf(included);
    if (!copies.has(copyName)) {
      copies.set(copyName, '');
      copies.set(copyName, formatConfigFile(included, copies));
    }
    // A condition such as gitdir:./web is relative to the folder of its file.
    return [name.replace(/^(includeif\.gitdir(?:\/i)?:)\.\//s, `$1${path.dirname(file)}/`), copyName];
  };
  return rememberedSettings(file)
    .filter(([name]) => !name.startsWith('branch.'))
    .map((setting) => formatSetting(isInclude(setting[0]) ? copySetting(setting) : setting))
    .join('');
}

/** Settings of one checkout that do not apply to another. */
const ownSettings = new Set(['core.worktree', 'core.bare']);

const worktreeSettings = (repository: GitDirectories): readonly GitSetting[] =>
  hasWorktreeConfig(path.join(repository.commonDir, 'config'))
    ? rememberedSettings(path.join(repository.gitDir, 'config.worktree')).filter(
        ([name]) => !ownSettings.has(name) && !isInclude(name),
      )
    : [];

/** Formats all files of the copy, by their names. */
function formatCopies(repository: GitDirectories): Map<string, string> {
  const copies = new Map<string, string>();
  const shared = formatConfigFile(path.join(repository.commonDir, 'config'), copies);
  const own = worktreeSettings(repository).map(formatSetting).join('');
  // Without this extension git reads no configuration from the git directory of a worktree.
  copies.set('config', `${shared}${own}[extensions]\n\tworktreeConfig = false\n`);
  copies.set(
    'global',
    globalConfigFiles()
      .map((file) => formatConfigFile(file, copies))
      .join(''),
  );
  return copies;
}

let privateFolder: string | undefined;

/**
 * Makes all later git calls of this process read a copy of the remembered configuration. The name of the
 * copy's folder is a digest of its contents, so that runners with the same configuration share it and a later
 * runner can follow a path into it.
 */
export async function usePrivateConfig(repository: GitDirectories): Promise<void> {
  const { commonDir } = repository;
  for (const name of neededFolders) await mkdir(path.join(commonDir, name), { recursive: true });
  const copies = formatCopies(repository);
  const digest = createHash('sha256')
    .update(JSON.stringify([commonDir, linkedNames, [...copies].toSorted()]))
    .digest('hex');
  const folder = path.join(privateConfigsFolder(), digest);
  const exists = (): Promise<boolean> =>
    stat(folder).then(
      () => true,
      () => false,
    );
  if (!(await exists())) {
    const draft = `${folder}.${randomUUID()}`;
    await mkdir(draft, { recursive: true, mode: 0o700 });
    for (const [name, text] of copies) await writeFile(path.join(draft, name), text, { mode: 0o600 });
    for (const name of linkedNames) await symlink(path.join(commonDir, name), path.join(draft, name));
    await rename(draft, folder).catch(async (error: unknown) => {
      // Another runner created the same copy.
      await rm(draft, { recursive: true, force: true });
      if (!(await exists())) throw error;
    });
  }
  privateFolder = folder;
}

/** Returns the environment that makes git read the copy, if there is one. */
export const privateConfigEnvironment = (): Record<string, string> =>
  privateFolder === undefined
    ? {}
    : { GIT_COMMON_DIR: privateFolder, GIT_CONFIG_GLOBAL: path.join(privateFolder, 'global') };

/**
 * Gives a new worktree the configuration of the checkout that git would have copied. A sparse checkout needs
 * it.
 */
export async function copyWorktreeConfig(repository: GitDirectories, gitDir: string): Promise<void> {
  const text = worktreeSettings(repository).map(formatSetting).join('');
  if (text !== '') await writeFile(path.join(gitDir, 'config.worktree'), text);
}
