/** The whole command line as a tree. The code of a command is loaded when it is used. */
import { type ApiAccess } from '@muster/runner';
import { Command, Help } from 'commander';
import { exitCodes, wrapped } from '@muster/terminal';
import { operators, type OperatorsWord } from './admin/words.ts';
import { addCall, addOperations } from './operations/commands.ts';
import { onOpening, openAll } from './opening.ts';
import { clientOf } from './operations/run.ts';
import { addConnectionFlags, findConnection } from './session/connection.ts';
import { addSession } from './session/commands.ts';
import { versionText } from './version.ts';

const afterHelp = `
Tables are for people; --json prints the same for scripts, errors on stderr too.

Exit codes: 0 done, ${exitCodes.failed} an operators' command failed, ${exitCodes.usage} the command line is wrong,
${exitCodes.refused} the API refused (4xx), ${exitCodes.unreachable} no answer or a fault of the API (5xx).

Where calls go: --base-url and --token, else MUSTER_BASE_URL and MUSTER_TOKEN,
else what muster login kept; else, by npm run muster, the instance that runs
here, as the owner of its demo organization.`;

/** The width of help if the terminal's width is unknown. Commander uses the same default. */
const helpWidth = 80;

/**
 * Formats help for a terminal of 80 columns. Commander itself wraps neither usages nor narrow second columns.
 */
const help = {
  showGlobalOptions: false,
  minWidthToWrap: 24,
  subcommandTerm: (command: Command) => command.name(),
  commandUsage: (command: Command) =>
    wrapped(
      [`Usage: ${new Help().commandUsage(command)}`],
      command.configureOutput().getOutHelpWidth?.() ?? helpWidth,
      'Usage: '.length,
    )
      .join('\n')
      .slice('Usage: '.length),
};

/** Loads the database drivers only for operators' commands, which work on the database itself. */
async function fillOperators(parent: Command, word?: OperatorsWord): Promise<void> {
  const { addAdmin } = await import('./admin/commands.ts');
  addAdmin(parent, word);
}

function addOperators(program: Command): void {
  // The registry has commands below `admin` as well, for operators with a token.
  const admin = program.commands.find((command) => command.name() === 'admin') ?? program.command('admin');
  admin
    .summary("Operators' commands, on the database itself or with a platform token")
    .description(
      "Operators' commands. Those for organizations, members, tokens and jobs work directly on the database in DATABASE_URL, with a login that owns its tables; they need no token. `platform accounts, orgs, teams, subscriptions, metrics` call the API with a platform token.",
    );
  onOpening(admin, () => fillOperators(admin));
  for (const word of Object.keys(operators) as OperatorsWord[]) {
    const alias = program.command(word, { hidden: true });
    onOpening(alias, () => fillOperators(alias, word));
  }
}

/** The access to the API for the commands of the runner. */
const api: ApiAccess = {
  addFlags: addConnectionFlags,
  connect: async (flags) => {
    const connection = await findConnection(flags);
    return { connection, client: clientOf(connection) };
  },
};

function addOwn(program: Command): void {
  addSession(program);
  addCall(program);
  const later = (name: string, summary: string, fill: (command: Command) => Promise<void>): void => {
    const command = program.command(name).summary(summary);
    onOpening(command, () => fill(command));
  };
  later('watch', 'Show live who is at work, what they hold and until when', async (command) => {
    const { fillWatch } = await import('./watch/command.ts');
    fillWatch(command);
  });
  later(
    'work',
    'Run agents on this machine: take stories, work in worktrees, submit the work',
    async (command) => {
      const { fillWork } = await import('@muster/runner/work');
      fillWork(command, api);
    },
  );
  later('ask', 'Ask a question on a story and wait for the answer', async (command) => {
    const { fillAsk } = await import('./ask/command.ts');
    fillAsk(command);
  });
  later(
    'import',
    'Import stories from Linear, Jira, GitHub, Plane, Trello, CSV or a board file',
    async (command) => {
      const { fillImport } = await import('./import/command.ts');
      fillImport(command);
    },
  );
  later(
    'report',
    'In a CI pipeline: record the event that started it, and the result of its checks',
    async (command) => {
      const { fillReport } = await import('@muster/runner/report');
      fillReport(command, api);
    },
  );
  later(
    'mcp',
    'Configure Claude Code, Codex, Cursor and other MCP clients to use Muster',
    async (command) => {
      const { fillMcp } = await import('./mcp/command.ts');
      fillMcp(command);
    },
  );
  later('completion', 'Print a completion script for bash, zsh or fish', async (command) => {
    const { fillCompletion } = await import('./completion/command.ts');
    fillCompletion(command, async () => {
      await openAll(program);
      return program;
    });
  });
}

export function createProgram(): Command {
  const program = new Command('muster')
    .description('Muster on the command line: every operation of the API, for people and scripts.')
    .version(versionText())
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(help)
    .showHelpAfterError('(see --help)')
    .addHelpText('after', afterHelp);
  program.commandsGroup('Commands:');
  addOwn(program);
  addOperations(program);
  addOperators(program);
  return program;
}
