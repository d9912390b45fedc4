/** The commands `muster mcp install` and `muster mcp uninstall`. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { mcpClientNames, type McpClientName, mcpClientOf, type McpServerSettings } from './clients.ts';
import {
  deleteEmptySettingsFile,
  updateSettingsFile,
  editSettings,
  reinstallServer,
  runCommand,
  formatShellCommand,
} from './install.ts';
import {
  addServerOptions,
  defaultTokenVariable,
  nextStepLines,
  printLines,
  resolveServer,
  type ServerFlags,
  settingsFileOf,
} from './server.ts';

interface McpFlags extends ServerFlags {
  readonly scope: 'user' | 'project';
  readonly print?: boolean;
}

function parseServerName(text: string): string {
  if (!/^[A-Za-z][\w-]{0,39}$/.test(text))
    throw new InvalidArgumentError('It must consist of letters, digits, - and _.');
  return text;
}

function parseVariableName(text: string): string {
  if (!/^[A-Za-z_]\w*$/.test(text))
    throw new InvalidArgumentError(
      'The value must be the name of an environment variable; the token itself is not stored.',
    );
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
  const install = addTargetOptions(command.command('install').summary('Add Muster to an MCP client'))
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
    );
  addServerOptions(install)
    .addHelpText(
      'after',
      '\nExamples:\n  muster mcp install claude\n  muster mcp install cursor --scope project --project WEB --print',
    )
    .action(installServer);
  addTargetOptions(command.command('uninstall').summary('Remove Muster from an MCP client'))
    .addHelpText('after', '\nExamples:\n  muster mcp uninstall claude')
    .action(uninstallServer);
}

async function installServer(name: McpClientName, flags: McpFlags): Promise<void> {
  const client = mcpClientOf(name);
  const place = settingsFileOf(name, flags.scope);
  const { server } = await resolveServer(flags);
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
  const isDeleted = isChanged && (await deleteEmptySettingsFile(place, client, server));
  if (isRun) printLines(`Removed ${server.name} from ${client.title}.`);
  else
    printLines(
      isChanged ? `Removed ${server.name} from ${place.file}.` : `${server.name} was not in ${place.file}.`,
    );
  if (isDeleted) printLines('Deleted the file, because it had no other contents.');
}
