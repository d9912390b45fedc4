/**
 * The base of the operators' commands. They work directly on the database as the owner of its tables, so they
 * need no token. An operator with DATABASE_URL may do everything here; each write adds an audit entry.
 */
import { cliConnectTimeoutMillis, type Pool } from '@muster/driver';
import { type NodeAddress, openNodes, parseNodes } from '@muster/placement';
import { type ApiError } from '@muster/contract';
import { toApiError } from '@muster/runtime';
import { exitCodes, terminalSafeJson, sanitizeForTerminal } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { askParentProcess } from '../starter.ts';
import { type AdminOutput } from './shown.ts';

/** The error of a command that cannot run with the given arguments or in the current environment. */
export class AdminCommandError extends Error {}

/** Adds the description and the option that all commands share. */
export const addDescriptionAndJsonOption = (command: Command, description: string): Command =>
  command.description(description).option('--json', 'print the result as JSON, for scripts');

export const addSubcommand = (parent: Command, name: string, description: string): Command =>
  addDescriptionAndJsonOption(parent.command(name), description);

export const addOrganizationSubcommand = (parent: Command, name: string, description: string): Command =>
  addSubcommand(parent, name, description).requiredOption('--org <slug>', 'the organization');

/** Prints the result of the work. An expected failure prints one line and sets exit code 1. */
export async function runAdminCommand(
  runningCommand: Command,
  work: () => Promise<AdminOutput>,
): Promise<void> {
  try {
    const { json, lines } = await work();
    const asJson = runningCommand.opts<{ json?: boolean }>().json === true;
    process.stdout.write(`${asJson ? terminalSafeJson(json) : lines.map(sanitizeForTerminal).join('\n')}\n`);
  } catch (error) {
    const known = error instanceof AdminCommandError ? error.message : describeError(toApiError(error));
    // An unexpected fault, which a developer has to look into.
    if (known === undefined) throw error;
    process.stderr.write(`muster: ${sanitizeForTerminal(known)}\n`);
    process.exitCode = exitCodes.failed;
  }
}

export const runOnDatabase = (
  runningCommand: Command,
  work: (pool: Pool) => Promise<AdminOutput>,
): Promise<void> => runAdminCommand(runningCommand, () => withDatabase(work));

export async function withDatabase<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const { pool, close } = openNodes(
    {
      ...{ url: await resolveDatabaseUrl(), role: null, max: 1, name: 'muster-cli' },
      connectTimeoutMillis: cliConnectTimeoutMillis,
    },
    readNodeAddresses(),
  );
  try {
    return await work(pool);
  } finally {
    await close();
  }
}

/** Parses DATABASE_NODES, in the same format as in the services. */
export function readNodeAddresses(): readonly NodeAddress[] {
  try {
    return parseNodes(process.env['DATABASE_NODES'] ?? '');
  } catch (error) {
    throw new AdminCommandError(`DATABASE_NODES is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}

/** Returns DATABASE_URL. If it is not set, returns the database address that the parent process offers. */
export async function resolveDatabaseUrl(): Promise<string> {
  const url = process.env['DATABASE_URL'];
  if (url === undefined || url === '') {
    const offered = await askParentProcess('database');
    if (offered === undefined)
      throw new AdminCommandError(
        'DATABASE_URL is not set; it must name the database to work on (npm run muster -- … sets it)',
      );
    if ('error' in offered) throw new AdminCommandError(offered.error);
    return offered.url;
  }
  if (!URL.canParse(url))
    throw new AdminCommandError(
      'DATABASE_URL is not a URL such as postgres://user:password@host:5432/muster',
    );
  return url;
}

/** Describes the error in one line. Returns undefined for an error that the operator cannot correct. */
function describeError(error: ApiError): string | undefined {
  if (error.code === 'internal') return undefined;
  const { issues = [], reason } = error.details;
  if (issues.length > 0) return issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  const refused = error.code === 'conflict' || error.code === 'unprocessable';
  return refused ? `${error.message} (${reason})` : error.message;
}

export function parseInteger(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number.');
  return Number(text);
}

export function parseCommaSeparated(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}
