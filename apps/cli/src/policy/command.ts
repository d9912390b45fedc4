/** The commands `muster policy pull`, `plan` and `apply`: the rules of an organization as a file. */
import { appendFile, writeFile } from 'node:fs/promises';
import { type Client } from '@muster/client';
import {
  exitCodes,
  sanitizeToOneLine,
  stdoutFormat,
  terminalSafeJson,
  UsageError,
  wrapLines,
} from '@muster/terminal';
import { type Command } from 'commander';
import { PartialRefusalError, reportError } from '../failures.ts';
import { readTextInput } from '../input.ts';
import { createCommandClient } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import {
  type ChangeSummary,
  comparePolicy,
  type NewSecret,
  type RuleChange,
  type PolicyComparison,
} from './changes.ts';
import { parsePolicyFile, type PolicyFile } from './file.ts';
import { formatPolicyFile, readLiveRules } from './live.ts';

interface PullFlags extends ConnectionFlags {
  readonly project?: readonly string[];
  readonly output?: string;
}

interface ChangeFlags extends ConnectionFlags {
  readonly prune?: boolean;
  readonly json?: boolean;
  /** The file to which `plan` saves the changes. */
  readonly out?: string;
  /** The saved changes that `apply` may make. */
  readonly plan?: string;
  /** The file to which `apply` writes the secrets of new webhooks. */
  readonly secrets?: string;
}

/** The exit code of `plan` if the organization differs from the file, as in other tools of this kind. */
const driftExitCode = 2;

export function configurePolicyPull(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Writes policy, budgets, prompts and webhooks of the organization as YAML; with --project also columns, prompts and webhooks of projects. The secrets of webhooks are not included.',
      )
      .option('--project <key...>', 'the keys of projects to include')
      .option('-o, --output <file>', 'the file to write; by default standard output'),
  ).action(async ({ project = [], output, ...flags }: PullFlags) => {
    const client = createCommandClient(await findConnection(flags));
    const yaml = formatPolicyFile(await readLiveRules(client, fileWithAllSections(project)));
    if (output === undefined) process.stdout.write(yaml);
    else await writeFile(output, yaml, { mode: 0o600 });
  });
}

/** Returns a policy file with all sections of the organization and of each given project, all of them empty. */
function fileWithAllSections(projectKeys: readonly string[]): PolicyFile {
  const ofProject = { columns: [], prompts: [], webhooks: [] };
  const projects = Object.fromEntries(projectKeys.map((key) => [key.toUpperCase(), ofProject]));
  return { policy: {}, budgets: [], prompts: [], webhooks: [], projects };
}

function addChangeFlags(command: Command): Command {
  command
    .argument('<file>', 'the file, or - for standard input')
    .option('--prune', 'also delete what a section of the file no longer mentions, and archive such columns')
    .option('--json', 'print the changes as JSON, for scripts');
  return addConnectionFlags(command);
}

export function configurePolicyPlan(command: Command): void {
  addChangeFlags(
    command
      .description(
        'Shows what applying the file would change. Exit codes: 0 nothing to change, 2 the organization differs from the file, 1 the file is invalid.',
      )
      .option('--out <file>', 'save the changes, for muster policy apply --plan'),
  ).action((file: string, flags: ChangeFlags) =>
    reportingInputErrors(flags, async () => {
      const { changes, unmanaged } = await findChanges(await createClientFor(flags), file, flags);
      if (flags.out !== undefined)
        await writeFile(flags.out, `${serializeChanges(changes)}\n`, { mode: 0o600 });
      print(flags, { changes: summariesOf(changes), unmanaged }, [
        ...planLines({ changes, unmanaged }),
        changes.length === 0 ? 'Nothing to change.' : 'Nothing was changed.',
      ]);
      if (changes.length > 0) process.exitCode = driftExitCode;
    }),
  );
}

export function configurePolicyApply(command: Command): void {
  addChangeFlags(
    command
      .description(
        'Makes the organization match the file. What the file does not mention stays, unless --prune is given. An update of the policy, a prompt, a webhook or the limit of a column is refused if someone else changed it at the same time. Budgets, the order of columns and removals are not checked.',
      )
      .option('--plan <file>', 'the changes that muster policy plan --out saved; any other change is refused')
      .option(
        '--secrets <file>',
        'append the secrets of new webhooks to this file as NDJSON; without it, get one later with muster webhooks rotate-secret',
      ),
  ).action((file: string, flags: ChangeFlags) =>
    reportingInputErrors(flags, async () => {
      const client = await createClientFor(flags);
      const planned = await findChanges(client, file, flags);
      if (
        flags.plan !== undefined &&
        (await readTextInput(flags.plan)).trim() !== serializeChanges(planned.changes)
      )
        throw new PartialRefusalError(
          'The changes differ from the saved plan: the organization or the file changed since. Nothing was changed; make a new plan.',
        );
      let newSecrets = 0;
      await applyChanges(client, planned.changes, async (secret) => {
        newSecrets += 1;
        if (flags.secrets !== undefined)
          await appendFile(flags.secrets, `${JSON.stringify(secret)}\n`, { mode: 0o600 });
      });
      const result = { changes: summariesOf(planned.changes), unmanaged: planned.unmanaged };
      print(flags, result, [
        ...planLines(planned),
        planned.changes.length === 0 ? 'Nothing to change.' : 'Applied.',
        ...(newSecrets > 0 && flags.secrets === undefined
          ? ['Get the secrets of new webhooks with muster webhooks rotate-secret.']
          : []),
      ]);
    }),
  );
}

const createClientFor = async (flags: ConnectionFlags): Promise<Client> =>
  createCommandClient(await findConnection(flags));

/** Reports an error of the input with exit code 1, because `plan` uses 2 for differences. */
async function reportingInputErrors({ json = false }: ChangeFlags, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    reportError(error, { json });
    process.exitCode = exitCodes.failed;
  }
}

async function findChanges(client: Client, name: string, { prune = false }: ChangeFlags) {
  const file = parsePolicyFile(name, await readTextInput(name));
  return comparePolicy(file, await readLiveRules(client, file), prune);
}

/** Makes the changes one after the other. If one is refused, says how many were made. */
export async function applyChanges(
  client: Client,
  changes: readonly RuleChange[],
  onSecret: (secret: NewSecret) => Promise<void>,
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    try {
      await change.apply(client, onSecret);
    } catch (error) {
      process.stderr.write(
        `${sanitizeToOneLine(change.summary.subject)} was not changed. ${index} of ${changes.length} changes were applied before.\n`,
      );
      throw error;
    }
  }
}

const summariesOf = (changes: readonly RuleChange[]): ChangeSummary[] =>
  changes.map(({ summary }) => summary);
const serializeChanges = (changes: readonly RuleChange[]): string =>
  JSON.stringify(summariesOf(changes), undefined, 2);

const signs = { create: '+', update: '~', delete: '-', reorder: '~' } as const;
const maxValueChars = 160;

function formatValue(value: unknown): string {
  const json = sanitizeToOneLine(JSON.stringify(value));
  return json.length > maxValueChars ? `${json.slice(0, maxValueChars)}…` : json;
}

/** Returns the lines that show the changes, and what the file does not mention. */
function planLines({ changes, unmanaged }: PolicyComparison): string[] {
  const shown = summariesOf(changes).flatMap(({ action, subject, fields }) => [
    `${signs[action]} ${sanitizeToOneLine(subject)}`,
    ...fields.map(({ field, from, to }) =>
      action === 'create'
        ? `    ${field}: ${formatValue(to)}`
        : `    ${field}: ${formatValue(from)} → ${formatValue(to)}`,
    ),
  ]);
  return [
    ...shown,
    ...unmanaged.map(
      (subject) => `! ${sanitizeToOneLine(subject)} is not in the file and stays; --prune removes it`,
    ),
  ];
}

function print({ json = false }: ChangeFlags, result: unknown, lines: readonly string[]): void {
  const output = json ? terminalSafeJson(result) : wrapLines(lines, stdoutFormat().width).join('\n');
  process.stdout.write(`${output}\n`);
}
