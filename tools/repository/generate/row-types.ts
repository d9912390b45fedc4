/**
 * Generates the types of rows with kysely-codegen from a migrated database. columns.json has the facts about
 * columns that SQL cannot express.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@muster/tools';

interface Columns {
  readonly customImports: unknown;
  readonly typeMapping: unknown;
  readonly overrides: unknown;
}

/** Writes the types of the database at `url` to `file`. */
export async function writeRowTypes(url: string, file: string): Promise<void> {
  const text = await readFile(path.join(import.meta.dirname, 'columns.json'), 'utf8');
  const { customImports, typeMapping, overrides } = JSON.parse(text) as Columns;
  await promisify(execFile)(
    process.execPath,
    [
      path.join(repositoryRoot, 'node_modules/kysely-codegen/dist/cli/bin.js'),
      '--dialect=postgres',
      `--url=${url}`,
      `--out-file=${file}`,
      '--exclude-pattern={app,months}.*',
      `--custom-imports=${JSON.stringify(customImports)}`,
      `--type-mapping=${JSON.stringify(typeMapping)}`,
      `--overrides=${JSON.stringify(overrides)}`,
    ],
    { cwd: repositoryRoot },
  );
}
