/** What each command of the operators' command line is made of; command-line.ts has the table of all. */
import { type Pool } from '@muster/driver';
import { type Command } from 'commander';
import { type Secrets } from '../database.ts';
import { type Progress } from '../progress.ts';
import { Refused } from '../operators/transaction.ts';
import { type LicenseRef } from '../operators/license.ts';
import { usualProduct } from '../operators/products.ts';

/** What a command shows. */
export interface Shown {
  /** For scripts, with --json. */
  readonly json: unknown;
  /** For people. */
  readonly lines: readonly string[];
  /** The command has found something wrong: exit code 1. */
  readonly isBad?: boolean;
}

export interface Context {
  /** As the login of DATABASE_URL, which owns the tables. */
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly secrets: () => Promise<Secrets>;
  /** The lines of standard input that are not empty; on a terminal it asks for them by this name. */
  readonly readLines: (wanted: string) => Promise<readonly string[]>;
  /** Progress, for people; not part of the result. */
  readonly say: (line: string) => void;
  /** How far it is, for people at a terminal. */
  readonly progress: Progress;
}

export type Options = Readonly<Record<string, unknown>>;

export interface LicenseCommand {
  /** Two words for one of a group. */
  readonly name: string;
  readonly description: string;
  /** Adds its own options. */
  readonly shape?: (command: Command) => Command;
  readonly run: (context: Context, options: Options, args: readonly string[]) => Promise<Shown>;
}

export const text = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

export const number = (options: Options, name: string): number | undefined => {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
};

export const withProduct = (command: Command): Command =>
  command.option('--product <product>', `what it is of; ${usualProduct} unless said`);

export const productIn = (options: Options): string | undefined => text(options, 'product');

export const withId = (command: Command): Command =>
  command.option('--id <id>', 'the license by its id; else its key is read from standard input');

/** The license that is meant: by --id, else by the key on standard input. */
export async function refOf(
  { readLines }: Pick<Context, 'readLines'>,
  options: Options,
): Promise<LicenseRef> {
  const id = text(options, 'id');
  if (id !== undefined) return { id };
  const [key, ...more] = await readLines('License key');
  if (key === undefined) throw new Refused('no_key', 'no key came on standard input');
  if (more.length > 0) throw new Refused('several_keys', 'one key at a time');
  return { key };
}
