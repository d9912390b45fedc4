/** The command `muster setup`. */
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { countWithNoun, exitCodes, UsageError } from '@muster/terminal';
import { Argument, type Command, Option } from 'commander';
import { findRepositoryRoot, resolveLinks } from '../hook/repository.ts';
import { mcpClientOf } from '../mcp/clients.ts';
import { reinstallServer, runCommand } from '../mcp/install.ts';
import {
  addServerOptions,
  defaultTokenVariable,
  nextStepLines,
  printLines,
  resolveServer,
  type ServerFlags,
} from '../mcp/server.ts';
import { type SetupClientName, setupClientNames, setupClientOf, type SetupScope } from './clients.ts';
import { addParts, checkParts, findNeededFiles, type PartResult, removeParts } from './files.ts';
import { preCommitFile, preCommitPart } from './git-hook.ts';
import { anyServer, partsOf, type SetupOptions, type SetupPart } from './parts.ts';
import { writePlugin } from './plugin.ts';

/** The target that adds the pre-commit hook of git instead of configuring a client. */
const gitTarget = 'git';
type SetupTarget = SetupClientName | typeof gitTarget;

interface SetupFlags extends Pick<ServerFlags, 'auth' | 'baseUrl' | 'profile' | 'project'> {
  readonly scope?: SetupScope;
  readonly strict?: boolean;
  readonly check?: boolean;
  readonly remove?: boolean;
  readonly plugin?: string;
}

export function configureSetupCommand(command: Command): void {
  command
    .description(
      "Teaches a coding agent to work with Muster: adds the MCP server, a skill, a section with instructions, and hooks. The hooks show what the agent holds, and refuse edits of files that someone else has locked. Everything else in the client's files stays. No token is written into a file.",
    )
    .addArgument(
      new Argument('<client>', 'the client to configure, or git for its pre-commit hook').choices([
        ...setupClientNames,
        gitTarget,
      ]),
    )
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
    .option(
      '--plugin <folder>',
      'write a plugin of Claude Code and its marketplace into an empty folder instead',
    );
  addServerOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  muster setup claude --project WEB
  muster setup codex --scope user
  muster setup cursor --check
  muster setup cursor --remove
  muster setup git --project WEB
  muster setup claude --plugin ../our-plugins`,
    )
    .action(runSetup);
}

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

const titleOf = (target: SetupTarget): string => (target === gitTarget ? 'git' : mcpClientOf(target).title);

async function findParts(target: SetupTarget, scope: SetupScope, root: string): Promise<SetupPart[]> {
  if (target !== gitTarget) return partsOf(target, scope, root);
  if (scope === 'user')
    throw new UsageError('the pre-commit hook belongs to a repository; use --scope project');
  return [preCommitPart(await preCommitFile(root))];
}

/** Throws UsageError if a link in the repository leads a file out of it. */
async function requireInside(root: string, parts: readonly SetupPart[]): Promise<void> {
  for (const { file } of parts) {
    const target = await resolveLinks(file);
    if (path.relative(root, target).startsWith('..'))
      throw new UsageError(`${file} leads to ${target}, outside of the repository; it was not changed`);
  }
}

async function runSetup(target: SetupTarget, flags: SetupFlags): Promise<void> {
  const { scope = 'project', check = false, remove = false, plugin } = flags;
  if ([check, remove, plugin !== undefined].filter(Boolean).length > 1)
    throw new UsageError('use only one of --check, --remove and --plugin');
  if (plugin !== undefined) {
    await writeClaudePlugin(target, plugin, flags);
    return;
  }
  const folder = await realpath(process.cwd());
  const root = scope === 'user' ? homedir() : ((await findRepositoryRoot(folder)) ?? folder);
  const parts = await findParts(target, scope, root);
  if (scope === 'project' && target !== gitTarget) await requireInside(root, parts);
  const place: SetupPlace = { target, scope, root, parts };
  const where = `${titleOf(target)} ${scope === 'user' ? 'for you' : `in ${root}`}:`;
  if (check) await printCheck(place, where);
  else if (remove) {
    printLines(`Removing Muster from ${where}`);
    await removeSetup(place);
  } else {
    const options = await resolveOptions(target, flags);
    printLines(`Setting up ${where}`);
    await addSetup(place, options);
    await printNextSteps(target, options);
  }
}

async function writeClaudePlugin(target: SetupTarget, folder: string, flags: SetupFlags): Promise<void> {
  if (target !== 'claude') throw new UsageError('--plugin is for claude');
  const files = await writePlugin(path.resolve(folder), await resolveOptions(target, flags));
  printLines(
    `Wrote to ${folder}:`,
    ...files.map((file) => `  ${file}`),
    '',
    'Publish the folder as a git repository. Then type in Claude Code:',
    '  /plugin marketplace add OWNER/REPOSITORY',
    '  /plugin install muster@muster',
  );
}

async function resolveOptions(target: SetupTarget, flags: SetupFlags): Promise<SetupOptions> {
  const { server, baseUrl } = await resolveServer({
    ...flags,
    ...{ name: anyServer.name, tokenVariable: defaultTokenVariable },
    // The hook of git has no server entry, so its sign-in does not matter.
    auth: target === gitTarget ? 'token' : flags.auth,
  });
  const hooks = {
    ...{ baseUrl, project: flags.project?.toUpperCase(), isStrict: flags.strict ?? false },
    // Hooks of a person run in all repositories, also in those of other projects.
    matchesRepository: flags.scope === 'user',
  };
  return { server, hooks };
}

interface SetupPlace {
  readonly target: SetupTarget;
  readonly scope: SetupScope;
  readonly root: string;
  readonly parts: readonly SetupPart[];
}

/**
 * Returns the client's own command for its servers, if there is one. A running client may overwrite its user
 * file, so the command is better than an edit of the file.
 */
const ownCommandOf = ({ target, scope }: SetupPlace) =>
  target !== gitTarget && scope === 'user' ? mcpClientOf(target).command : undefined;

async function addSetup(place: SetupPlace, options: SetupOptions): Promise<void> {
  const [first, ...others] = place.parts;
  if (first === undefined) return;
  const command = ownCommandOf(place);
  const [check] = await checkParts([first], options);
  const isAddedByClient =
    command !== undefined && check?.state !== 'current' && (await reinstallServer(command, options.server));
  const results = isAddedByClient
    ? [{ part: first, change: 'added' } as const, ...(await addParts(others, options))]
    : await addParts(place.parts, options);
  printResults(results, place.root);
}

async function removeSetup(place: SetupPlace): Promise<void> {
  const { target, scope, root, parts } = place;
  const command = ownCommandOf(place);
  const [check] = await checkParts(parts.slice(0, 1));
  const isRemovedByClient =
    command !== undefined &&
    check?.state !== 'missing' &&
    (await runCommand(command.program, command.remove(anyServer)).catch(() => false));
  const neededFiles = target === gitTarget ? new Set<string>() : await findNeededFiles(target, scope, root);
  const results = await removeParts(parts, { neededFiles, root });
  printResults(
    results.map((result) =>
      result.part === parts[0] && isRemovedByClient ? { ...result, change: 'removed' } : result,
    ),
    root,
  );
  if (results.some(({ change }) => change === 'kept'))
    printLines('', 'Parts that are marked as kept are also used by another client that is set up here.');
}

async function printCheck({ target, scope, root, parts }: SetupPlace, heading: string): Promise<void> {
  const checks = await checkParts(parts);
  printLines(heading);
  printRows(checks.map(({ part, state }) => [part.title, displayPath(part.file, root), state]));
  const toFix = checks.filter(({ state }) => state !== 'current').length;
  if (toFix === 0) return;
  printLines(
    '',
    `${countWithNoun(toFix, 'part is', 'parts are')} missing or outdated. Run muster setup ${target}${scope === 'user' ? ' --scope user' : ''}.`,
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

/** Returns instructions about the sign-in of the client and the hooks. */
function signInLines(target: SetupTarget, { server }: SetupOptions): string[] {
  if (target === gitTarget) return ['The hook uses the token in MUSTER_TOKEN, or the login of muster login.'];
  const { title, tokenInstructions } = mcpClientOf(target);
  const { hookInstructions } = setupClientOf(target);
  return [
    ...nextStepLines(title, server, tokenInstructions, target),
    'The hooks use the token in MUSTER_TOKEN, or the login of muster login. It must belong to the same agent.',
    ...(hookInstructions === undefined ? [] : [hookInstructions]),
  ];
}

async function printNextSteps(target: SetupTarget, options: SetupOptions): Promise<void> {
  const { hooks } = options;
  printLines(
    '',
    ...signInLines(target, options),
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
