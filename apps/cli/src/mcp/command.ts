/** The commands `muster mcp install` and `muster mcp uninstall`. */
import path from 'node:path';
import { plain, UsageError } from '@muster/terminal';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { addressOf, type ConnectionFlags, toBaseUrl } from '../session/connection.ts';
import { type ClientFile, mcpClientNames, type McpClientName, mcpClientOf, type Server } from './clients.ts';
import { changeFile, edited, runCommand, typed } from './install.ts';
import { hasOAuth } from './oauth.ts';

interface McpFlags extends ConnectionFlags {
  readonly scope: 'user' | 'project';
  readonly name: string;
  readonly mode?: 'core' | 'search' | 'full';
  readonly project?: string;
  readonly tokenVariable: string;
  readonly auth: 'auto' | 'oauth' | 'token';
  readonly print?: boolean;
}

const tokenVariable = 'MUSTER_TOKEN';

function toName(text: string): string {
  if (!/^[A-Za-z][\w-]{0,39}$/.test(text))
    throw new InvalidArgumentError('It must be a word of letters, digits, - and _.');
  return text;
}

function toVariable(text: string): string {
  if (!/^[A-Za-z_]\w*$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be the name of a variable; the token itself is not written anywhere.',
    );
  }
  return text;
}

function addPlace(command: Command): Command {
  return command
    .addArgument(new Argument('<client>', 'which client').choices(mcpClientNames))
    .addOption(
      new Option('--scope <scope>', 'for you, or for all who work in the repository that you are in')
        .choices(['user', 'project'])
        .default('user'),
    )
    .option('--name <name>', 'what the server is called there', toName, 'muster')
    .option('--print', 'show what would be run or written, and change nothing');
}

export function fillMcp(command: Command): void {
  command.description(
    'Tells clients of the Model Context Protocol where Muster is. A token is never written into a file: the client takes it from the environment, or signs in by OAuth where the installation has it.',
  );
  addPlace(command.command('install').summary('Tell a client of Muster'))
    .description(
      'Tells a client of Muster: by its own command where it has one, else in its file. What else is in the file stays, comments too.',
    )
    .addOption(
      new Option('--mode <mode>', 'how many tools the client sees')
        .choices(['core', 'search', 'full'])
        .default('core'),
    )
    .option('--project <key>', 'one project: all calls are for it')
    .option('--token-variable <name>', 'the variable that has the token', toVariable, tokenVariable)
    .addOption(
      new Option('--auth <how>', 'how the client signs in; auto asks the installation')
        .choices(['auto', 'oauth', 'token'])
        .default('auto'),
    )
    .option(
      '--base-url <url>',
      'the address of Muster; else MUSTER_BASE_URL, else what muster login kept',
      toBaseUrl,
    )
    .option('--profile <name>', 'which login; else MUSTER_PROFILE, else the last one')
    .addHelpText(
      'after',
      '\nExamples:\n  muster mcp install claude\n  muster mcp install cursor --scope project --project WEB --print',
    )
    .action(install);
  addPlace(command.command('uninstall').summary('Take Muster out of a client again'))
    .addHelpText('after', '\nExamples:\n  muster mcp uninstall claude')
    .action(uninstall);
}

function urlOf(baseUrl: string, { mode = 'core', project }: McpFlags): string {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/api/mcp`);
  if (mode !== 'full') url.searchParams.set('mode', mode);
  if (project !== undefined) url.searchParams.set('project', project.toUpperCase());
  return url.href;
}

function placeOf(name: McpClientName, scope: McpFlags['scope']): ClientFile {
  const { project, user, title } = mcpClientOf(name);
  if (scope === 'user') return user();
  if (project === undefined) throw new UsageError(`${title} reads no file of a repository: --scope user`);
  return { ...project, file: path.resolve(project.file) };
}

const say = (...lines: string[]): void => {
  process.stdout.write(`${lines.map(plain).join('\n')}\n`);
};

async function install(name: McpClientName, flags: McpFlags): Promise<void> {
  const client = mcpClientOf(name);
  const place = placeOf(name, flags.scope);
  const url = urlOf(await addressOf(flags), flags);
  const isOAuth = flags.auth === 'oauth' || (flags.auth === 'auto' && (await hasOAuth(url)));
  const server: Server = { name: flags.name, url, variable: isOAuth ? undefined : flags.tokenVariable };
  const command = flags.scope === 'user' ? client.command : undefined;
  if (flags.print === true) {
    if (command !== undefined)
      say(typed([command.program, ...command.add(server)]), '', `or in ${place.file}:`, '');
    else say(`${place.file}:`, '');
    say(edited('', place, client, server, true).trimEnd());
    if (client.link !== undefined) say('', `or open ${client.link(server)}`);
    return;
  }
  const isRun = command !== undefined && (await addAnew(command, server));
  const isChanged = isRun || (await changeFile(place, client, server, true));
  if (isRun) say(`Told ${client.title} by its own command.`);
  else
    say(
      isChanged ? `Wrote ${server.name} into ${place.file}.` : `${server.name} is in ${place.file} already.`,
    );
  say(...nextOf(client.title, server, client.asks, name));
}

/** Adds the server to the client, after removing a server with the same name. */
async function addAnew(
  { program, add, remove }: NonNullable<ReturnType<typeof mcpClientOf>['command']>,
  server: Server,
): Promise<boolean> {
  const isThere = await runCommand(program, remove(server)).catch((error: unknown) => {
    // The client's command failed, because the client has no server with this name. There is nothing to
    // replace.
    if (error instanceof UsageError) return true;
    throw error;
  });
  return isThere && (await runCommand(program, add(server)));
}

function nextOf(title: string, { variable }: Server, asks: string | undefined, name: string): string[] {
  if (variable === undefined) return [`${title} signs in by OAuth when it first calls.`];
  // A login by a device code belongs to an agent, which cannot create tokens.
  const make = `A person makes one in the console (Settings, Tokens), or by a token of theirs: muster tokens create --agent ${name}.`;
  if (asks !== undefined) return [`${asks} ${make}`];
  return [`${title} takes the token from ${variable} of the environment that it is started in. ${make}`];
}

async function uninstall(name: McpClientName, flags: McpFlags): Promise<void> {
  const client = mcpClientOf(name);
  const place = placeOf(name, flags.scope);
  const server: Server = { name: flags.name, url: '', variable: tokenVariable };
  const command = flags.scope === 'user' ? client.command : undefined;
  if (flags.print === true) {
    if (command !== undefined) say(typed([command.program, ...command.remove(server)]), '');
    say(`or out of ${place.file}: ${place.within}.${server.name}`);
    return;
  }
  // Remove the server from the settings file too. An earlier installation may have written the file without
  // the client's command.
  const isRun =
    command !== undefined && (await runCommand(command.program, command.remove(server)).catch(() => false));
  const isChanged = await changeFile(place, client, server, false);
  if (isRun) say(`Took ${server.name} out of ${client.title}.`);
  else
    say(isChanged ? `Took ${server.name} out of ${place.file}.` : `${server.name} was not in ${place.file}.`);
}
