/**
 * The base of the operators' commands. They work directly on the database as the owner of its tables, so they
 * need no token. An operator with DATABASE_URL may do everything here; each write adds an audit entry.
 */
import { commandConnectMillis, type Pool } from '@muster/driver';
import { type NodeAddress, openNodes, parseNodes } from '@muster/placement';
import { type ApiError } from '@muster/registry';
import { toApiError } from '@muster/runtime';
import { exitCodes, jsonText, plain } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { askStarter } from '../starter.ts';
import { type AdminOutput } from './shown.ts';

/** The error of a command that cannot run with the given arguments or in the current environment. */
export class Unusable extends Error {}

/** Adds the description and the option that all commands share. */
export const prepared = (command: Command, description: string): Command =>
  command.description(description).option('--json', 'print the result as JSON, for scripts');

export const command = (parent: Command, name: string, description: string): Command =>
  prepared(parent.command(name), description);

export const ofOrg = (parent: Command, name: string, description: string): Command =>
  command(parent, name, description).requiredOption('--org <slug>', 'the organization');

/** Prints the result of the work. An expected failure prints one line and sets exit code 1. */
export async function run(self: Command, work: () => Promise<AdminOutput>): Promise<void> {
  try {
    const { json, lines } = await work();
    const asJson = self.opts<{ json?: boolean }>().json === true;
    process.stdout.write(`${asJson ? jsonText(json) : lines.map(plain).join('\n')}\n`);
  } catch (error) {
    const known = error instanceof Unusable ? error.message : sayError(toApiError(error));
    // An unexpected fault, which a developer has to look into.
    if (known === undefined) throw error;
    process.stderr.write(`muster: ${plain(known)}\n`);
    process.exitCode = exitCodes.failed;
  }
}

export const onDatabase = (self: Command, work: (pool: Pool) => Promise<AdminOutput>): Promise<void> =>
  run(self, () => withDatabase(work));

export async function withDatabase<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const { pool, close } = openNodes(
    {
      ...{ url: await databaseUrl(), role: null, max: 1, name: 'muster-cli' },
      connectWithinMillis: commandConnectMillis,
    },
    nodeAddresses(),
  );
  try {
    return await work(pool);
  } finally {
    await close();
  }
}

/** Parses DATABASE_NODES, in the same format as in the services. */
export function nodeAddresses(): readonly NodeAddress[] {
  try {
    return parseNodes(process.env['DATABASE_NODES'] ?? '');
  } catch (error) {
    throw new Unusable(`DATABASE_NODES is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}

/** Returns DATABASE_URL. If it is not set, returns the database address that the parent process offers. */
export async function databaseUrl(): Promise<string> {
  const url = process.env['DATABASE_URL'];
  if (url === undefined || url === '') {
    const offered = await askStarter('database');
    if (offered === undefined) {
      throw new Unusable(
        'DATABASE_URL is not set; it must name the database to work on (npm run muster -- … sets it)',
      );
    }
    if ('error' in offered) throw new Unusable(offered.error);
    return offered.url;
  }
  if (!URL.canParse(url))
    throw new Unusable('DATABASE_URL is not a URL such as postgres://user:password@host:5432/muster');
  return url;
}

/** Describes the error in one line. Returns undefined for an error that the operator cannot correct. */
function sayError(error: ApiError): string | undefined {
  if (error.code === 'internal') return undefined;
  const { issues = [], reason } = error.details;
  if (issues.length > 0) return issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  const refused = error.code === 'conflict' || error.code === 'unprocessable';
  return refused ? `${error.message} (${reason})` : error.message;
}

export function toInteger(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number.');
  return Number(text);
}

export function toList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}
