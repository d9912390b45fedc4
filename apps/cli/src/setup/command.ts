/** The command `muster setup`. */
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { countWithNoun, exitCodes, sanitizeForTerminal, UsageError } from '@muster/terminal';
import { Argument, type Command, Option } from 'commander';
import { findRepositoryRoot } from '../hook/repository.ts';
import { mcpClientOf } from '../mcp/clients.ts';
import { reinstallServer, runCommand } from '../mcp/install.ts';
import { defaultTokenVariable, nextStepLines, resolveServer } from '../mcp/server.ts';
import { type ConnectionFlags, parseBaseUrl } from '../session/connection.ts';
import { type SetupClientName, setupClientNames, setupClientOf, type SetupScope } from './clients.ts';
import { addParts, checkParts, findNeededFiles, type PartResult, removeParts } from './files.ts';
import { anyServer, partsOf, type SetupOptions } from './parts.ts';

interface SetupFlags extends ConnectionFlags {
  readonly scope?: SetupScope;
  readonly project?: string;
  readonly auth?: 'auto' | 'oauth' | 'token';
  readonly strict?: boolean;
  readonly check?: boolean;
  readonly remove?: boolean;
}

export function configureSetupCommand(command: Command): void {
  command
    .description(
      "Teaches a coding agent to work with Muster: adds the MCP server, a skill, a section with instructions, and hooks. The hooks show what the agent holds, and refuse edits of files that someone else has locked. Everything else in the client's files stays. No token is written into a file.",
    )
    .addArgument(new Argument('<client>', 'the client to configure').choices(setupClientNames))
    .addOption(
      new Option(
        '--scope <scope>',
        'for everyone who works in the current repository (project, the default), or for you',
      ).choices(['project', 'user']),
    )
    .option('--project <key>', 'limit the client to one project, and check the locks of this project')
    .option('--strict', 'refuse edits when the lock cannot be checked')
    .option('--check', 'report which parts are present, and change nothing; exits with 1 if one is missing')
    .option('--remove', 'remove everything that setup added')
    .addOption(
      new Option('--auth <how>', 'how the client signs in; auto, the default, asks the installation').choices(
        ['auto', 'oauth', 'token'],
      ),
    )
    .option(
      '--base-url <url>',
      'the address of Muster; by default MUSTER_BASE_URL, then that of muster login',
      parseBaseUrl,
    )
    .option('--profile <name>', 'the login to use; by default MUSTER_PROFILE, then the last one')
    .addHelpText(
      'after',
      `
Examples:
  muster setup claude --project WEB
  muster setup codex --scope user
  muster setup cursor --check
  muster setup cursor --remove`,
    )
    .action(runSetup);
}

const printLines = (...lines: string[]): void => {
  process.stdout.write(`${lines.map(sanitizeForTerminal).join('\n')}\n`);
};

/** Shortens a path for people: relative to the repository, or to the home folder. */
function displayPath(file: string, root: string): string {
  const fromRoot = path.relative(root, file);
  if (!fromRoot.startsWith('..')) return fromRoot;
  const fromHome = path.relative(homedir(), file);
  return fromHome.startsWith('..') ? file : path.join('~', fromHome);
}

const printRows = (rows: readonly (readonly [title: string, file: string, state: string])[]): void => {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  printLines(
    ...rows.map(([title, file, state]) =>
      `  ${title.padEnd(widths[0] ?? 0)}  ${file.padEnd(widths[1] ?? 0)}  ${state}`.trimEnd(),
    ),
  );
};

const printResults = (results: readonly PartResult[], root: string): void => {
  printRows(results.map(({ part, change }) => [part.title, displayPath(part.file, root), change]));
};

async function runSetup(client: SetupClientName, flags: SetupFlags): Promise<void> {
  const { scope = 'project', check = false, remove = false } = flags;
  if (check && remove) throw new UsageError('use either --check or --remove, not both');
  const folder = await realpath(process.cwd());
  const root = scope === 'user' ? homedir() : ((await findRepositoryRoot(folder)) ?? folder);
  const { title } = mcpClientOf(client);
  const where = scope === 'user' ? 'for you' : `in ${root}`;
  if (check) await printCheck(client, scope, root, `${title} ${where}:`);
  else if (remove) {
    printLines(`Removing Muster from ${title} ${where}:`);
    await removeSetup(client, scope, root);
  } else {
    const options = await resolveOptions(flags);
    printLines(`Setting up ${title} ${where}:`);
    await addSetup(client, scope, root, options);
    await printNextSteps(client, options);
  }
}

async function resolveOptions(flags: SetupFlags): Promise<SetupOptions> {
  const { server, baseUrl } = await resolveServer({
    ...flags,
    ...{ name: anyServer.name, tokenVariable: defaultTokenVariable, auth: flags.auth ?? 'auto' },
  });
  const hooks = { baseUrl, project: flags.project?.toUpperCase(), isStrict: flags.strict ?? false };
  return { server, hooks };
}

async function addSetup(
  client: SetupClientName,
  scope: SetupScope,
  root: string,
  options: SetupOptions,
): Promise<void> {
  const [mcp, ...others] = partsOf(client, scope, root);
  if (mcp === undefined) return;
  const { command } = mcpClientOf(client);
  const [check] = await checkParts([mcp], options);
  // A running client may overwrite its user file, so its own command adds the server if there is one.
  const isAddedByClient =
    scope === 'user' &&
    command !== undefined &&
    check?.state !== 'current' &&
    (await reinstallServer(command, options.server));
  const results = isAddedByClient
    ? [{ part: mcp, change: 'added' } as const, ...(await addParts(others, options))]
    : await addParts([mcp, ...others], options);
  printResults(results, root);
}

async function removeSetup(client: SetupClientName, scope: SetupScope, root: string): Promise<void> {
  const [mcp, ...others] = partsOf(client, scope, root);
  if (mcp === undefined) return;
  const { command } = mcpClientOf(client);
  const [check] = await checkParts([mcp]);
  const isRemovedByClient =
    scope === 'user' &&
    command !== undefined &&
    check?.state !== 'missing' &&
    (await runCommand(command.program, command.remove(anyServer)).catch(() => false));
  const results = await removeParts([mcp, ...others], {
    neededFiles: await findNeededFiles(client, scope, root),
    root,
  });
  printResults(
    results.map((result) =>
      result.part === mcp && isRemovedByClient ? { ...result, change: 'removed' } : result,
    ),
    root,
  );
  if (results.some(({ change }) => change === 'kept'))
    printLines('', 'Parts that are marked as kept are also used by another client that is set up here.');
}

async function printCheck(
  client: SetupClientName,
  scope: SetupScope,
  root: string,
  heading: string,
): Promise<void> {
  const checks = await checkParts(partsOf(client, scope, root));
  printLines(heading);
  printRows(checks.map(({ part, state }) => [part.title, displayPath(part.file, root), state]));
  const toFix = checks.filter(({ state }) => state !== 'current').length;
  if (toFix === 0) return;
  printLines(
    '',
    `${countWithNoun(toFix, 'part is', 'parts are')} missing or outdated. Run muster setup ${client}${scope === 'user' ? ' --scope user' : ''}.`,
  );
  process.exitCode = exitCodes.failed;
}

/** Returns true if the shell of a client can find the program. */
async function isOnPath(program: string): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? [`${program}.cmd`, `${program}.exe`] : [program];
  for (const file of folders.flatMap((folder) => names.map((name) => path.join(folder, name)))) {
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

async function printNextSteps(client: SetupClientName, { server, hooks }: SetupOptions): Promise<void> {
  const { title, tokenInstructions } = mcpClientOf(client);
  const { hookInstructions } = setupClientOf(client);
  printLines(
    '',
    ...nextStepLines(title, server, tokenInstructions, client),
    'The hooks use the token in MUSTER_TOKEN, or the login of muster login. It must belong to the same agent.',
    ...(hookInstructions === undefined ? [] : [hookInstructions]),
    ...(hooks.project === undefined
      ? ['The hooks check the locks of the project that you work on. --project sets it in advance.']
      : []),
    ...((await isOnPath('muster'))
      ? []
      : [
          'The hooks run the command muster, which is not on your PATH. Install it: npm install --global @muster/cli',
        ]),
  );
}
