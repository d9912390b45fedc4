/**
 * The operators' command line, `license`. It connects to the database as the owner of its tables, so an operator with
 * DATABASE_URL may do everything. Keys are read from standard input, because arguments appear in shell histories and
 * process lists.
 */
import { BurstError, createPool, cliConnectTimeoutMillis } from '@muster/driver';
import { ConfigError } from '@muster/http';
import { terminalSafeJson, sanitizeForTerminal } from '@muster/terminal';
import { Command, CommanderError } from 'commander';
import { answerCommand } from './commands/answer.ts';
import { certificateCommands } from './commands/certificates.ts';
import { changeCommands } from './commands/change.ts';
import { type CommandContext, type LicenseCommand } from './commands/command.ts';
import { doctorCommand } from './commands/doctor.ts';
import { entitleCommand } from './commands/features.ts';
import { importCommand } from './commands/import.ts';
import { issueCommand } from './commands/issue.ts';
import { readCommands } from './commands/look.ts';
import { machineCommands } from './commands/machines.ts';
import { operatorCommands } from './commands/operators.ts';
import { planCommands } from './commands/plans.ts';
import { productCommands } from './commands/products.ts';
import { purgeCommand } from './commands/purge.ts';
import { releaseCommands } from './commands/releases.ts';
import { signingKeyCommands } from './commands/signing-keys.ts';
import { tokenCommands } from './commands/tokens.ts';
import { trailCommands } from './commands/trail.ts';
import { usageCommands } from './commands/usage.ts';
import { loadSecrets, provision } from './database.ts';
import { isKeyLike } from './key/key.ts';
import { outageOf } from './operators/outage.ts';
import { nothingChangedError, OutcomeUnknownError, RefusedError } from './operators/transaction.ts';

/** All commands, in the order of the help. */
const commands: readonly LicenseCommand[] = [
  issueCommand,
  importCommand,
  ...readCommands,
  ...changeCommands,
  entitleCommand,
  ...usageCommands,
  ...machineCommands,
  ...certificateCommands,
  answerCommand,
  ...trailCommands,
  purgeCommand,
  doctorCommand,
  ...signingKeyCommands,
  ...planCommands,
  ...productCommands,
  ...releaseCommands,
  ...tokenCommands,
  ...operatorCommands,
  {
    name: 'migrate',
    description: 'Create or update the schema, and everything needed before the first license',
    run: async ({ pool, databaseUrl, environment }) => {
      // Connects before the migration. If Postgres is unreachable here, it is certain that nothing was
      // changed.
      await pool.query('select');
      const applied = await provision(databaseUrl, secretsFromEnvironment(environment)).catch(
        (error: unknown) => {
          const outage = outageOf(error);
          throw outage === undefined ? error : new OutcomeUnknownError(outage);
        },
      );
      return {
        json: { applied },
        lines:
          applied.length === 0 ? ['The schema is up to date.'] : applied.map((name) => `Applied ${name}.`),
      };
    },
  },
];

const groupDescriptions: Readonly<Record<string, string>> = {
  'signing-key': 'Keys that sign answers and certificates',
  product: 'Products for sale, each with its own keys, plans and signing keys',
  token: 'Tokens for the HTTP API and for the support pages',
  operator: 'People with access to the support pages, as identified by OPERATORS_ISSUER',
  session: 'Sessions on the support pages',
  releases: 'Releases that licensed programs may download',
  usage: 'What a license has used of its meters',
  plan: 'Plans for sale: the terms of licenses that are issued',
};

const secretsFromEnvironment = (environment: CommandContext['environment']) => ({
  pepper: environment['LICENSE_PEPPER'] || undefined,
  pepperBefore: environment['LICENSE_PEPPER_BEFORE'] || undefined,
  seal: environment['LICENSE_SEAL'] || undefined,
});

/** The environment variables and streams that a command line uses. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readLines: CommandContext['readLines'];
  readonly writeStdout: (text: string) => void;
  readonly writeStderr: (text: string) => void;
  readonly progress?: CommandContext['progress'];
}

function databaseUrlOf({ DATABASE_URL: url }: CommandContext['environment']): string {
  if (url === undefined || url === '')
    throw new RefusedError(
      'no_database',
      'DATABASE_URL is not set; it must name the database to work on (npm run license -- … sets it)',
    );
  if (URL.canParse(url)) return url;
  throw new RefusedError(
    'no_database',
    'DATABASE_URL is not a URL such as postgres://user:password@host:5432/licenses',
  );
}

/** Returns the reason and message of an error that an operator can act on; undefined for other errors. */
function actionableErrorOf(
  error: unknown,
): { readonly reason: string; readonly message: string } | undefined {
  if (error instanceof RefusedError) return error;
  if (error instanceof ConfigError) return { reason: 'environment', message: error.message };
  // Changes run in `inTransaction`, which handles outages by itself. An outage that arrives here happened
  // outside of a change.
  const outage = outageOf(error);
  if (outage !== undefined) return nothingChangedError(outage);
  const state = error instanceof BurstError ? error.sqlState : undefined;
  return state === '42P01' || state === '3F000'
    ? { reason: 'no_schema', message: 'this database has no tables for licenses yet; run license migrate' }
    : undefined;
}

/** Runs one command and returns the exit code. */
async function runCommand(
  { run: work }: LicenseCommand,
  commanderCommand: Command,
  terminal: Terminal,
): Promise<number> {
  const { environment, readLines, writeStdout, writeStderr } = terminal;
  const asJson = commanderCommand.opts<{ json?: boolean }>().json === true;
  try {
    const databaseUrl = databaseUrlOf(environment);
    const pool = createPool({
      url: databaseUrl,
      role: null,
      max: 2,
      name: 'license-cli',
      connectTimeoutMillis: cliConnectTimeoutMillis,
    });
    try {
      const context: CommandContext = {
        ...{ pool, databaseUrl, environment, readLines },
        secrets: () => loadSecrets(pool, secretsFromEnvironment(environment)),
        progress: terminal.progress ?? (() => undefined),
      };
      const { json, lines, foundProblem } = await work(
        context,
        commanderCommand.opts(),
        commanderCommand.args,
      );
      writeStdout(`${asJson ? terminalSafeJson(json) : lines.map(sanitizeForTerminal).join('\n')}\n`);
      return foundProblem === true ? 1 : 0;
    } finally {
      await pool.end();
    }
  } catch (error) {
    const known = actionableErrorOf(error);
    // An unexpected error is a bug of the program, so it is thrown again.
    if (known === undefined) throw error;
    const { reason, message } = known;
    if (asJson) writeStdout(`${terminalSafeJson({ error: { reason, message } })}\n`);
    else writeStderr(`license: ${sanitizeForTerminal(message)}\n`);
    return 1;
  }
}

/** Replaces keys in error messages of Commander, which quote invalid arguments, so that logs contain no key. */
const redactKeys = (errorText: string, args: readonly string[]): string =>
  args
    .filter(isKeyLike)
    .reduce((text, key) => text.replaceAll(key, '(a key; keys are read from standard input)'), errorText);

/** Runs the command of the arguments and returns the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0;
  const program = new Command('license')
    .description(
      'Manages the licenses of an installation, for operators. Keys are read from standard input, never from arguments.',
    )
    .showHelpAfterError('(see --help)')
    .addHelpText('after', '\nDATABASE_URL names the database, with a login that owns the tables.')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.writeStdout,
      writeErr: terminal.writeStderr,
      outputError: (said, write) => write(redactKeys(said, args)),
    });
  const groups = new Map<string, Command>();
  const parentOf = (group: string | undefined): Command => {
    if (group === undefined) return program;
    const known = groups.get(group) ?? program.command(group).description(groupDescriptions[group] ?? group);
    groups.set(group, known);
    return known;
  };
  for (const one of commands) {
    const [name = '', group] = one.name.split(' ').toReversed();
    const command = parentOf(group).command(name).description(one.description);
    (one.configure?.(command) ?? command)
      .option('--json', 'print the result as JSON, for scripts')
      .action(async (...given: unknown[]) => {
        const self = given.at(-1);
        if (!(self instanceof Command)) throw new Error('commander gives the command last');
        code = await runCommand(one, self, terminal);
      });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has already printed the error or the requested help.
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return code;
}
