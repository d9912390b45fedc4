/** The definition of a command of the operators' command line; command-line.ts lists all commands. */
import { open, type FileHandle } from 'node:fs/promises';
import { type Pool } from '@muster/driver';
import { formatTable } from '@muster/terminal';
import { type Command } from 'commander';
import { type Secrets } from '../database.ts';
import { type ReportProgress } from '../progress.ts';
import { RefusedError } from '../operators/transaction.ts';
import { type LicenseRef } from '../operators/license.ts';
import { defaultProduct } from '../operators/products.ts';

/** Creates a file that must not exist yet, readable by its owner only. Throws RefusedError with the reason `out`. */
export const createFile = (file: string): Promise<FileHandle> =>
  open(file, 'wx', 0o600).catch((error: unknown) => {
    throw new RefusedError('out', `${file} cannot be written: ${errorMessageOf(error)}`);
  });

export const errorMessageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The result of a command, for scripts and for people. */
export interface CommandOutput {
  /** The output for scripts, with --json. */
  readonly json: unknown;
  /** The output lines for people. */
  readonly lines: readonly string[];
  /** True if the command found a problem. The program then exits with code 1. */
  readonly foundProblem?: boolean;
}

export interface CommandContext {
  /** Database connections with the login of DATABASE_URL, which owns the tables. */
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly secrets: () => Promise<Secrets>;
  /** Reads the non-empty lines of standard input. On a terminal it prompts with this name. */
  readonly readLines: (wanted: string) => Promise<readonly string[]>;
  /** Shows a progress bar on a terminal. */
  readonly progress: ReportProgress;
}

export type CommandOptions = Readonly<Record<string, unknown>>;

export interface LicenseCommand {
  /** The name of the command, or the names of its group and the command: two words. */
  readonly name: string;
  readonly description: string;
  /** Adds the command's own options to Commander's command. */
  readonly configure?: (command: Command) => Command;
  readonly run: (
    context: CommandContext,
    options: CommandOptions,
    args: readonly string[],
  ) => Promise<CommandOutput>;
}

/** Returns the output of a list: a table whose columns format an item, by their headings. */
export const listOutput = <Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, (item: Item) => string>>,
): CommandOutput => ({
  json: { items },
  lines: formatTable(
    Object.keys(columns),
    items.map((item) => Object.values(columns).map((format) => format(item))),
  ),
});

export const textOption = (options: CommandOptions, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

export const numberOption = (options: CommandOptions, name: string): number | undefined => {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
};

export const addProductOption = (command: Command): Command =>
  command.option('--product <product>', `the product; by default ${defaultProduct}`);

export const productOption = (options: CommandOptions): string | undefined => textOption(options, 'product');

export const addIdOption = (command: Command): Command =>
  command.option('--id <id>', "the license's id; without it the key is read from standard input");

/** Returns the license given by --id or else by the key on standard input. */
export async function readLicenseRef(
  { readLines }: Pick<CommandContext, 'readLines'>,
  options: CommandOptions,
): Promise<LicenseRef> {
  const id = textOption(options, 'id');
  if (id !== undefined) return { id };
  const [key, ...more] = await readLines('License key');
  if (key === undefined) throw new RefusedError('no_key', 'no key was given on standard input');
  if (more.length > 0) throw new RefusedError('several_keys', 'give only one key');
  return { key };
}
