/** The MCP server's settings, from the flags of the command line and the installation. */
import path from 'node:path';
import { sanitizeForTerminal, UsageError } from '@muster/terminal';
import { type Command, Option } from 'commander';
import { parseBaseUrl, resolveBaseUrl, type ConnectionFlags } from '../session/connection.ts';
import {
  type ClientSettingsFile,
  type McpClientName,
  mcpClientOf,
  type McpServerSettings,
} from './clients.ts';
import { supportsOAuth } from './oauth.ts';

export const defaultTokenVariable = 'MUSTER_TOKEN';

export interface ServerFlags extends ConnectionFlags {
  readonly name: string;
  readonly mode?: 'core' | 'search' | 'full';
  readonly project?: string;
  readonly tokenVariable: string;
  readonly auth: 'auto' | 'oauth' | 'token';
}

function buildMcpUrl(baseUrl: string, { mode = 'core', project }: ServerFlags): string {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/api/mcp`);
  if (mode !== 'full') url.searchParams.set('mode', mode);
  if (project !== undefined) url.searchParams.set('project', project.toUpperCase());
  return url.href;
}

/** Adds the options that select the address of the server and its sign-in. */
export const addServerOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--auth <how>', 'how the client signs in; auto asks the installation')
        .choices(['auto', 'oauth', 'token'])
        .default('auto'),
    )
    .option(
      '--base-url <url>',
      'the address of Muster; by default MUSTER_BASE_URL, then that of muster login',
      parseBaseUrl,
    )
    .option('--profile <name>', 'the login to use; by default MUSTER_PROFILE, then the last one');

export const printLines = (...lines: string[]): void => {
  process.stdout.write(`${lines.map(sanitizeForTerminal).join('\n')}\n`);
};

/** Returns the server's settings and the address of the installation. `--auth auto` asks the installation. */
export async function resolveServer(
  flags: ServerFlags,
): Promise<{ readonly server: McpServerSettings; readonly baseUrl: string }> {
  const baseUrl = await resolveBaseUrl(flags);
  const url = buildMcpUrl(baseUrl, flags);
  const isOAuth = flags.auth === 'oauth' || (flags.auth === 'auto' && (await supportsOAuth(url)));
  const tokenVariable = isOAuth ? undefined : flags.tokenVariable;
  return { server: { name: flags.name, url, tokenVariable }, baseUrl };
}

/** Returns the file with the client's servers. Files of a project are relative to `root`. */
export function settingsFileOf(
  name: McpClientName,
  scope: 'user' | 'project',
  root = process.cwd(),
): ClientSettingsFile {
  const { projectFile, userFile, title } = mcpClientOf(name);
  if (scope === 'user') return userFile();
  if (projectFile === undefined)
    throw new UsageError(`${title} has no configuration file in repositories; use --scope user`);
  return { ...projectFile, file: path.resolve(root, projectFile.file) };
}

/** Returns instructions about the sign-in of the client. */
export function nextStepLines(
  title: string,
  { tokenVariable }: McpServerSettings,
  tokenInstructions: string | undefined,
  name: string,
): string[] {
  if (tokenVariable === undefined) return [`${title} signs in with OAuth at its first call.`];
  // A login by a device code belongs to an agent, which cannot create tokens.
  const make = `Create one in the console (Settings, Tokens), or with a member's token: muster tokens create --agent ${name}.`;
  if (tokenInstructions !== undefined) return [`${tokenInstructions} ${make}`];
  return [`${title} reads the token from the environment variable ${tokenVariable} when it starts. ${make}`];
}
