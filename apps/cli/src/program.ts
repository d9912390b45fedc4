/** The whole command line as a tree. The code of a command is loaded when it is used. */
import { type ApiAccess } from '@muster/runner';
import { Command, Help } from 'commander';
import { exitCodes, wrapLines } from '@muster/terminal';
import { operatorCommandSummaries, type OperatorCommandName } from './admin/words.ts';
import { addCallCommand, addOperations } from './operations/commands.ts';
import { fillOnFirstUse, loadAllSubcommands } from './opening.ts';
import { createCommandClient } from './operations/run.ts';
import { addConnectionFlags, findConnection } from './session/connection.ts';
import { addSessionCommands } from './session/commands.ts';
import { versionText } from './version.ts';

const helpFooter = `
Tables are for people; --json prints the same for scripts, errors on stderr too.

Exit codes: 0 done, ${exitCodes.failed} an operators' command failed, ${exitCodes.usage} the command line is wrong,
${exitCodes.refused} the API refused (4xx), ${exitCodes.unreachable} no answer or a fault of the API (5xx).

Where calls go: --base-url and --token, else MUSTER_BASE_URL and MUSTER_TOKEN,
else what muster login kept; else, by npm run muster, the instance that runs
here, as the owner of its demo organization.`;

/** The width of help if the terminal's width is unknown. Commander uses the same default. */
const defaultHelpWidth = 80;

/**
 * Formats help for a terminal of 80 columns. Commander itself wraps neither usages nor narrow second columns.
 */
const helpConfiguration = {
  showGlobalOptions: false,
  minWidthToWrap: 24,
  subcommandTerm: (command: Command) => command.name(),
  commandUsage: (command: Command) =>
    wrapLines(
      [`Usage: ${new Help().commandUsage(command)}`],
      command.configureOutput().getOutHelpWidth?.() ?? defaultHelpWidth,
      'Usage: '.length,
    )
      .join('\n')
      .slice('Usage: '.length),
};

/** Loads the database drivers only for operators' commands, which work on the database itself. */
async function configureOperatorCommands(
  parent: Command,
  operatorCommand?: OperatorCommandName,
): Promise<void> {
  const { addAdminCommands } = await import('./admin/commands.ts');
  addAdminCommands(parent, operatorCommand);
}

function addOperatorCommands(program: Command): void {
  // The registry has commands below `admin` as well, for operators with a token.
  const admin = program.commands.find((command) => command.name() === 'admin') ?? program.command('admin');
  admin
    .summary("Operators' commands, on the database itself or with a platform token")
    .description(
      "Operators' commands. Those for organizations, members, tokens and jobs work directly on the database in DATABASE_URL, with a login that owns its tables; they need no token. `platform accounts, orgs, teams, subscriptions, metrics` call the API with a platform token.",
    );
  fillOnFirstUse(admin, () => configureOperatorCommands(admin));
  for (const word of Object.keys(operatorCommandSummaries) as OperatorCommandName[]) {
    const alias = program.command(word, { hidden: true });
    fillOnFirstUse(alias, () => configureOperatorCommands(alias, word));
  }
}

/** The access to the API for the commands of the runner. */
const runnerApiAccess: ApiAccess = {
  addFlags: addConnectionFlags,
  connect: async (flags) => {
    const connection = await findConnection(flags);
    return { connection, client: createCommandClient(connection) };
  },
};

function addHandwrittenCommands(program: Command): void {
  addSessionCommands(program);
  addCallCommand(program);
  const later = (name: string, summary: string, fill: (command: Command) => Promise<void>): void => {
    const command = program.command(name).summary(summary);
    fillOnFirstUse(command, () => fill(command));
  };
  later('watch', 'Show live who is at work, what they hold and until when', async (command) => {
    const { configureWatchCommand } = await import('./watch/command.ts');
    configureWatchCommand(command);
  });
  later(
    'work',
    'Run agents on this machine: take stories, work in worktrees, submit the work',
    async (command) => {
      const { configureWorkCommand } = await import('@muster/runner/work');
      configureWorkCommand(command, runnerApiAccess);
    },
  );
  later('attach', 'Attach files to a story, an execution or a run', async (command) => {
    const { configureAttachCommand } = await import('@muster/runner/attach');
    configureAttachCommand(command, runnerApiAccess);
  });
  later('ask', 'Ask a question on a story and wait for the answer', async (command) => {
    const { configureAskCommand } = await import('./ask/command.ts');
    configureAskCommand(command);
  });
  later(
    'import',
    'Import stories from Linear, Jira, GitHub, Plane, Trello, CSV or a board file',
    async (command) => {
      const { configureImportCommand } = await import('./import/command.ts');
      configureImportCommand(command);
    },
  );
  later('export', 'Download the data of the organization, of a project or your own', async (command) => {
    const { configureExportCommand } = await import('./export/command.ts');
    configureExportCommand(command);
  });
  later('plan', 'Create and update many stories from a plan or a task list', async (command) => {
    const { configurePlanCommand } = await import('./plan/command.ts');
    configurePlanCommand(command);
  });
  later(
    'report',
    'In a CI pipeline: record the event that started it, and the result of its checks',
    async (command) => {
      const { configureReportCommand } = await import('@muster/runner/report');
      configureReportCommand(command, runnerApiAccess);
    },
  );
  later(
    'mcp',
    'Configure Claude Code, Codex, Cursor and other MCP clients to use Muster',
    async (command) => {
      const { configureMcpCommand } = await import('./mcp/command.ts');
      configureMcpCommand(command);
    },
  );
  later(
    'setup',
    'Teach a coding agent to work with Muster: MCP, skill, instructions and hooks',
    async (command) => {
      const { configureSetupCommand } = await import('./setup/command.ts');
      configureSetupCommand(command);
    },
  );
  const hook = program.command('hook', { hidden: true });
  fillOnFirstUse(hook, async () => {
    const { configureHookCommand } = await import('./hook/command.ts');
    configureHookCommand(hook);
  });
  later('completion', 'Print a completion script for bash, zsh or fish', async (command) => {
    const { configureCompletionCommand } = await import('./completion/command.ts');
    configureCompletionCommand(command, async () => {
      await loadAllSubcommands(program);
      return program;
    });
  });
}

/** Adds commands to the groups of namespaces that the registry has no operation for. */
function addCommandsToNamespaces(program: Command): void {
  const addTo = (group: string, name: string, summary: string, fill: (command: Command) => Promise<void>) => {
    const parent = program.commands.find((command) => command.name() === group);
    if (parent === undefined) throw new Error(`there is no group of commands ${group}`);
    const command = parent.command(name).summary(summary);
    fillOnFirstUse(command, () => fill(command));
  };
  addTo('audit', 'export', 'Write the audit entries of a period as NDJSON', async (command) => {
    const { configureAuditExportCommand } = await import('./audit/export.ts');
    configureAuditExportCommand(command);
  });
  addTo('policy', 'pull', 'Write the rules of the organization as a file', async (command) => {
    const { configurePolicyPull } = await import('./policy/command.ts');
    configurePolicyPull(command);
  });
  addTo('policy', 'plan', 'Show how the organization differs from a file', async (command) => {
    const { configurePolicyPlan } = await import('./policy/command.ts');
    configurePolicyPlan(command);
  });
  addTo('policy', 'apply', 'Make the organization match a file', async (command) => {
    const { configurePolicyApply } = await import('./policy/command.ts');
    configurePolicyApply(command);
  });
}

export function createProgram(): Command {
  const program = new Command('muster')
    .description('Muster on the command line: every operation of the API, for people and scripts.')
    .version(versionText())
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(helpConfiguration)
    .showHelpAfterError('(see --help)')
    .addHelpText('after', helpFooter);
  program.commandsGroup('Commands:');
  addHandwrittenCommands(program);
  addOperations(program);
  addCommandsToNamespaces(program);
  addOperatorCommands(program);
  return program;
}
