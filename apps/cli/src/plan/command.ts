/** The commands `muster plan apply`, `diff` and `show`. */
import { applyPlan } from '@muster/import-files/plan';
import { formatMinute, formatTable, stdoutFormat, terminalSafeJson, wrapLines } from '@muster/terminal';
import { type Command } from 'commander';
import { readTextInput } from '../input.ts';
import { createCommandClient } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { parsePlanFile } from './plan-file.ts';
import { changeLines, planLines } from './report.ts';

interface PlanFlags extends ConnectionFlags {
  readonly project?: string;
  readonly ref?: string;
  readonly prune?: boolean;
  readonly json?: boolean;
}

export function configurePlanCommand(command: Command): void {
  command.description(
    'Applies plans: many stories in one file, with their order. The file is YAML or JSON with the parameters of plans.apply, or a task list in Markdown, such as tasks.md of spec-kit or Kiro.',
  );
  addFileCommand(command, 'apply', 'Create and update the stories of a plan').addHelpText(
    'after',
    `
Examples:
  muster plan apply plan.yaml
  muster plan apply specs/001-sign-in/tasks.md --project WEB
  muster plan apply .kiro/specs/sign-in/tasks.md --project WEB --prune`,
  );
  addFileCommand(command, 'diff', 'Show what applying a plan would change');
  const show = command
    .command('show')
    .summary('Show a plan, or the plans of a project')
    .description(
      'Shows the stories of a plan with their status and order; without a ref, the plans of the project.',
    )
    .argument('[ref]', 'the name of the plan')
    .requiredOption('--project <project>', "the project's id or key")
    .option('--json', 'print the answer as JSON, for scripts');
  addConnectionFlags(show).action(showPlan);
}

function addFileCommand(parent: Command, name: 'apply' | 'diff', summary: string): Command {
  const command = parent
    .command(name)
    .summary(summary)
    .description(`${summary}. A field that was changed on the board since stays as it is.`)
    .argument('<file>', 'the file, or - for standard input')
    .option('--project <project>', "the project's id or key; by default the one that the file names")
    .option('--ref <ref>', 'the name of the plan; by default the one in the file, or the name of the file')
    .option('--prune', 'remove what the file no longer has, and cancel its stories')
    .option('--json', 'print the answer as JSON, for scripts');
  return addConnectionFlags(command).action((file: string, flags: PlanFlags) =>
    runPlan(file, flags, name === 'diff'),
  );
}

async function runPlan(file: string, flags: PlanFlags, isPreview: boolean): Promise<void> {
  const params = {
    ...parsePlanFile(file, await readTextInput(file), flags),
    ...(flags.prune !== undefined && { prune: flags.prune }),
    mode: isPreview ? ('preview' as const) : ('apply' as const),
  };
  const { plans } = createCommandClient(await findConnection(flags));
  const result = isPreview ? await plans.apply(params) : await applyPlan(plans.apply, params);
  const titles = new Map(params.items.map(({ ref, title }) => [ref, title]));
  print(flags, result, changeLines(result, titles, isPreview));
}

async function showPlan(
  planRef: string | undefined,
  { project: projectId = '', ...flags }: PlanFlags,
): Promise<void> {
  const { plans } = createCommandClient(await findConnection(flags));
  if (planRef !== undefined) {
    const plan = await plans.get({ projectId, planRef });
    print(flags, plan, planLines(plan));
    return;
  }
  const items = await Array.fromAsync(plans.list.all({ projectId }));
  const rows = items.map(({ ref, updatedAt, appliedBy }) => [ref, formatMinute(updatedAt), appliedBy.name]);
  print(flags, { items }, formatTable(['REF', 'APPLIED', 'BY'], rows));
}

function print({ json = false }: PlanFlags, result: unknown, lines: readonly string[]): void {
  const output = json ? terminalSafeJson(result) : wrapLines(lines, stdoutFormat().width).join('\n');
  process.stdout.write(`${output}\n`);
}
