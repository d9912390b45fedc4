/** Programs as people write them on top of the API: in a folder where packages are found, compiled by the real compiler. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js');

/** What the compiler has to say of a project; nothing when it is content. */
export async function compile(folder: string, config: object): Promise<string> {
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  try {
    await run(process.execPath, [tsc, '-p', folder]);
    return '';
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return stdout;
  }
}

export interface Programs {
  path(file: string): string;
  write(file: string, text: string): Promise<void>;
  /** The same of these files, strict as it can be. */
  compile(...files: readonly string[]): Promise<string>;
  /** What a program prints. */
  run(file: string, environment: Readonly<Record<string, string>>): Promise<string>;
}

/** A folder for the spec file that calls it. */
export function usePrograms(): Programs {
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
