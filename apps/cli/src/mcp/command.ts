/** The commands `muster mcp install` and `muster mcp uninstall`. */
import path from 'node:path';
import { sanitizeForTerminal, UsageError } from '@muster/terminal';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { resolveBaseUrl, type ConnectionFlags, parseBaseUrl } from '../session/connection.ts';
import {
  type ClientSettingsFile,
  mcpClientNames,
  type McpClientName,
  mcpClientOf,
  type McpServerSettings,
} from './clients.ts';
import { updateSettingsFile, editSettings, runCommand, formatShellCommand } from './install.ts';
import { supportsOAuth } from './oauth.ts';

interface McpFlags extends ConnectionFlags {
  readonly scope: 'user' | 'project';
  readonly name: string;
  readonly mode?: 'core' | 'search' | 'full';
  readonly project?: string;
  readonly tokenVariable: string;
  readonly auth: 'auto' | 'oauth' | 'token';
  readonly print?: boolean;
}

const defaultTokenVariable = 'MUSTER_TOKEN';

function parseServerName(text: string): string {
  if (!/^[A-Za-z][\w-]{0,39}$/.test(text))
    throw new InvalidArgumentError('It must consist of letters, digits, - and _.');
  return text;
}

function parseVariableName(text: string): string {
  if (!/^[A-Za-z_]\w*$/.test(text)) {
    throw new InvalidArgumentError(
      'The value must be the name of an environment variable; the token itself is not stored.',
    );
  }
  return text;
}

function addTargetOptions(command: Command): Command {
  return command
    .addArgument(new Argument('<client>', 'the client to configure').choices(mcpClientNames))
    .addOption(
      new Option('--scope <scope>', 'for you, or for everyone who works in the current repository')
        .choices(['user', 'project'])
        .default('user'),
    )
    .option('--name <name>', "the server's name in the client", parseServerName, 'muster')
    .option('--print', 'show the command or file change, and change nothing');
}

export function configureMcpCommand(command: Command): void {
  command.description(
    'Configures MCP clients to use Muster. A token is never written into a file: the client reads it from the environment, or signs in with OAuth if the installation supports it.',
  );
  addTargetOptions(command.command('install').summary('Add Muster to an MCP client'))
    .description(
      "Adds Muster to an MCP client, with the client's own command if it has one, otherwise in its configuration file. Everything else in the file stays, including comments.",
    )
    .addOption(
      new Option('--mode <mode>', 'how many tools the client sees')
        .choices(['core', 'search', 'full'])
        .default('core'),
    )
    .option('--project <key>', 'limit all calls to one project')
    .option(
      '--token-variable <name>',
      'the environment variable with the token',
      parseVariableName,
      defaultTokenVariable,
    )
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
    .option('--profile <name>', 'the login to use; by default MUSTER_PROFILE, then the last one')
    .addHelpText(
      'after',
      '\nExamples:\n  muster mcp install claude\n  muster mcp install cursor --scope project --project WEB --print',
    )
    .action(installServer);
  addTargetOptions(command.command('uninstall').summary('Remove Muster from an MCP client'))
    .addHelpText('after', '\nExamples:\n  muster mcp uninstall claude')
    .action(uninstallServer);
}

function buildMcpUrl(baseUrl: string, { mode = 'core', project }: McpFlags): string {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/api/mcp`);
  if (mode !== 'full') url.searchParams.set('mode', mode);
  if (project !== undefined) url.searchParams.set('project', project.toUpperCase());
  return url.href;
}

function settingsFileOf(name: McpClientName, scope: McpFlags['scope']): ClientSettingsFile {
  const { projectFile, userFile, title } = mcpClientOf(name);
  if (scope === 'user') return userFile();
  if (projectFile === undefined)
    throw new UsageError(`${title} has no configuration file in repositories; use --scope user`);
  return { ...projectFile, file: path.resolve(projectFile.file) };
}

const printLines = (...lines: string[]): void => {
  process.stdout.write(`${lines.map(sanitizeForTerminal).join('\n')}\n`);
};

async function installServer(name: McpClientName, flags: McpFlags): Promise<void> {
  const client = mcpClientOf(name);
  const place = settingsFileOf(name, flags.scope);
  const url = buildMcpUrl(await resolveBaseUrl(flags), flags);
  const isOAuth = flags.auth === 'oauth' || (flags.auth === 'auto' && (await supportsOAuth(url)));
  const server: McpServerSettings = {
    name: flags.name,
    url,
    tokenVariable: isOAuth ? undefined : flags.tokenVariable,
  };
  const command = flags.scope === 'user' ? client.command : undefined;
  if (flags.print === true) {
    if (command !== undefined)
      printLines(
        formatShellCommand([command.program, ...command.add(server)]),
        '',
        `or in ${place.file}:`,
        '',
      );
    else printLines(`${place.file}:`, '');
    printLines(editSettings('', place, client, server, true).trimEnd());
    if (client.buildInstallLink !== undefined) printLines('', `or open ${client.buildInstallLink(server)}`);
    return;
  }
  const isRun = command !== undefined && (await reinstallServer(command, server));
  const isChanged = isRun || (await updateSettingsFile(place, client, server, true));
  if (isRun) printLines(`Added Muster to ${client.title} with its own command.`);
  else
    printLines(
      isChanged ? `Added ${server.name} to ${place.file}.` : `${server.name} is already in ${place.file}.`,
    );
  printLines(...nextStepLines(client.title, server, client.tokenInstructions, name));
}

/** Adds the server to the client, after removing a server with the same name. */
async function reinstallServer(
  { program, add, remove }: NonNullable<ReturnType<typeof mcpClientOf>['command']>,
  server: McpServerSettings,
): Promise<boolean> {
  const isThere = await runCommand(program, remove(server)).catch((error: unknown) => {
    // The client's command failed, because the client has no server with this name. There is nothing to
    // replace.
    if (error instanceof UsageError) return true;
    throw error;
  });
  return isThere && (await runCommand(program, add(server)));
}

function nextStepLines(
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

async function uninstallServer(name: McpClientName, flags: McpFlags): Promise<void> {
  const client = mcpClientOf(name);
  const place = settingsFileOf(name, flags.scope);
  const server: McpServerSettings = { name: flags.name, url: '', tokenVariable: defaultTokenVariable };
  const command = flags.scope === 'user' ? client.command : undefined;
  if (flags.print === true) {
    if (command !== undefined)
      printLines(formatShellCommand([command.program, ...command.remove(server)]), '');
    printLines(`or out of ${place.file}: ${place.serversKey}.${server.name}`);
    return;
  }
  // Remove the server from the settings file too. An earlier installation may have written the file without
  // the client's command.
  const isRun =
    command !== undefined && (await runCommand(command.program, command.remove(server)).catch(() => false));
  const isChanged = await updateSettingsFile(place, client, server, false);
  if (isRun) printLines(`Removed ${server.name} from ${client.title}.`);
  else
    printLines(
      isChanged ? `Removed ${server.name} from ${place.file}.` : `${server.name} was not in ${place.file}.`,
    );
}
