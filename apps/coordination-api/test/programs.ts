/** Compiles and runs programs that use the API, in a folder that can resolve its packages. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const tsc = path.join(workspaceRoot, 'node_modules/typescript-7/bin/tsc');

/** Compiler errors by file; a file without errors has no entry. */
type Complaints = Readonly<Record<string, string>>;

/** Compiles a project. Compiling several files together takes as long as one. */
export async function compile(folder: string, config: object): Promise<Complaints> {
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  try {
    await run(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd: folder });
    return {};
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return complaintsByFile(stdout);
  }
}

/** Groups the errors by file. Each begins with `file(line,column): ` and may continue in indented lines. */
function complaintsByFile(stdout: string): Complaints {
  const complaints: Record<string, string> = {};
  let current = '';
  for (const line of stdout.trimEnd().split('\n')) {
    // Errors that belong to no file have an empty name.
    if (!line.startsWith(' ')) current = /^([^(]+)\(\d+,\d+\): /.exec(line)?.[1] ?? '';
    complaints[current] = `${complaints[current] ?? ''}${line}\n`;
  }
  return complaints;
}

export interface StartedPrograms {
  path(file: string): string;
  write(file: string, text: string): Promise<void>;
  /** Compiles these files with the strictest options and returns the errors. */
  compile(...files: readonly string[]): Promise<Complaints>;
  /** Runs a program and returns its output. */
  run(file: string, environment: Readonly<Record<string, string>>): Promise<string>;
}

/** Creates a folder for the spec file that calls it. */
export function usePrograms(): StartedPrograms {
  let folder = '';
  beforeAll(async () => {
    const parent = path.join(workspaceRoot, 'dist/programs');
    await mkdir(parent, { recursive: true });
    folder = await mkdtemp(path.join(parent, 'of-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const inside = (file: string): string => path.join(folder, file);
  const write = (file: string, text: string): Promise<void> => writeFile(inside(file), text);
  return {
    path: inside,
    write,
    compile: (...files) =>
      compile(folder, { extends: path.join(workspaceRoot, 'tsconfig.base.json'), files }),
    async run(file, environment) {
      const { stdout } = await run(process.execPath, [inside(file)], {
        env: { ...process.env, NODE_OPTIONS: '', ...environment },
      });
      return stdout;
    },
  };
}
