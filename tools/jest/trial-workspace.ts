// A temporary copy of this workspace's rules and manifests without its code, for tests that break a rule on
// purpose.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');

const rules = [
  '.oxlintrc.json',
  '.gitignore',
  '.oxfmtrc.json',
  'eslint.config.js',
  'jest.config.js',
  'nx.json',
  'package-lock.json',
  'package.json',
  'tsconfig.base.json',
  'tools',
];

export interface NxResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface TrialWorkspace {
  root: string;
  write(files: Record<string, string>): Promise<void>;
  /** Runs one of the workspace's own commands (`nx`, `eslint`, `node`) in the copy. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<NxResult>;
  remove(): Promise<void>;
}

export interface TrialOptions {
  /** True to include the manifests of the real apps and libs, without their code. */
  realProjects: boolean;
  /** Files to add or replace, by path. A package.json creates another project. */
  files: Record<string, string>;
}

export async function createTrialWorkspace({ realProjects, files }: TrialOptions): Promise<TrialWorkspace> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-trial-')));
  for (const file of [...rules, ...(realProjects ? await projectFiles() : [])])
    await cp(path.join(workspaceRoot, file), path.join(root, file), {
      recursive: true,
      verbatimSymlinks: true,
      // Leaves out project.json files, because the dependencies of the tools may not exist in the copy.
      filter: (source) =>
        !source.endsWith('.spec.ts') && (realProjects || path.basename(source) !== 'project.json'),
    });
  const write = async (contents: Record<string, string>): Promise<void> => {
    for (const [file, content] of Object.entries(contents)) {
      await mkdir(path.dirname(path.join(root, file)), { recursive: true });
      await writeFile(path.join(root, file), content);
    }
  };
  await write(files);
  await linkPackages(root);
  return {
    root,
    write,
    run: (command, args, env = {}) => run(root, command, args, env),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

async function projectFolders(root: string): Promise<string[]> {
  const folders = ['apps', 'libs'].map(async (parent) => {
    const names = await readdir(path.join(root, parent)).catch(() => []);
    return names.map((name) => `${parent}/${name}`);
  });
  return (await Promise.all(folders)).flat();
}

async function projectFiles(): Promise<string[]> {
  const folders = await projectFolders(workspaceRoot);
  return folders.flatMap((folder) => [`${folder}/package.json`, `${folder}/tsconfig.json`]);
}

/** Links the packages that npm would install, except for @muster/*, which are the copy's own. */
export async function linkPackages(root: string): Promise<void> {
  const installed = path.join(workspaceRoot, 'node_modules');
  const linked = path.join(root, 'node_modules');
  await mkdir(path.join(linked, '@muster'), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== '@muster') await symlink(path.join(installed, name), path.join(linked, name));
  }
  await symlink(path.join(root, 'tools'), path.join(linked, '@muster/tools'));
  for (const folder of await projectFolders(root)) {
    await symlink(path.join(root, folder), path.join(linked, '@muster', path.basename(folder)));
    // Links package versions that only this project has.
    const own = path.join(workspaceRoot, folder, 'node_modules');
    if (existsSync(own)) await symlink(own, path.join(root, folder, 'node_modules'));
  }
}

function run(root: string, command: string, args: string[], env: Record<string, string>): Promise<NxResult> {
  // Removes the variables of an Nx that may be running this test, because they are not meant for the Nx
  // started here.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(NX_|NODE_OPTIONS$|TEST_TIER$)/.test(name),
  );
  const bin = path.join(root, 'node_modules/.bin');
  return new Promise((resolve) => {
    execFile(
      path.join(bin, command),
      args,
      {
        cwd: root,
        env: {
          ...Object.fromEntries(inherited),
          FORCE_COLOR: '0',
          PATH: `${bin}${path.delimiter}${process.env['PATH'] ?? ''}`,
          ...env,
        },
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ exitCode, stdout, stderr });
      },
    );
  });
}
