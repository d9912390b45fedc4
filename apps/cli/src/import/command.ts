/** The command `muster import`. */
import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { createClient, NoAnswer } from '@muster/client';
import {
  type Columns,
  csvFields,
  type CsvField,
  type DateOrder,
  decoded,
  emptyReport,
  type FileFormat,
  fileFormats,
  type Fitting,
  importFile,
  importNameOf,
  NoImport,
  openFile,
  placesOf,
  type Source,
  surveyFile,
} from '@muster/import-files';
import { jsonText, pageOfStdout, UsageError, wrapped } from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PartlyRefused } from '../failures.ts';
import { transportOf } from '../operations/run.ts';
import {
  addConnectionFlags,
  type CommandConnection,
  type ConnectionFlags,
  findConnection,
} from '../session/connection.ts';
import { fillBoard } from './board.ts';
import { progressOf } from './progress.ts';
import { jsonReport, leftOutLines, previewLines, summaryLines, unplaced, unplacedText } from './words.ts';

interface ImportFlags extends ConnectionFlags {
  readonly project: string;
  readonly status?: ReadonlyMap<string, string>;
  readonly person?: ReadonlyMap<string, string>;
  readonly dates?: DateOrder;
  readonly theirs?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly map?: ReadonlyMap<string, string>;
  readonly source?: string;
  readonly site?: string;
}

const about: Readonly<Record<FileFormat, { summary: string; file: string; examples: readonly string[] }>> = {
  linear: {
    summary: "The CSV of Linear's settings, or an answer of its API, which has comments",
    file: "the CSV that Linear's settings export, or the answer of its API to a query for issues",
    examples: ['muster import linear export.csv --project WEB --dry-run'],
  },
  jira: {
    summary: "The CSV of Jira's search, or an answer of its REST API, version 2",
    file: 'the CSV of a search with all fields, or what /rest/api/2/search answers (fields=*all, expand=names)',
    examples: ['muster import jira jira.csv --project WEB --site https://acme.atlassian.net'],
  },
  github: {
    summary: 'Issues of GitHub, or the items of a project',
    file: 'what gh issue list, the REST API or gh project item-list print as JSON',
    examples: [
      [
        'gh issue list --state all --limit 1000 \\',
        '    --json number,title,body,labels,state,stateReason,url,comments \\',
        '    --json milestone,assignees,createdAt,updatedAt |',
        '    muster import github - --project WEB',
      ].join('\n'),
      'gh project item-list 1 --owner acme --limit 1000 --format json |\n    muster import github - --project WEB',
    ],
  },
  plane: {
    summary: 'The CSV or JSON that Plane exports',
    file: 'the CSV or JSON that Plane exports',
    examples: ['muster import plane export.csv --project WEB'],
  },
  trello: {
    summary: 'The JSON of a board of Trello',
    file: 'the JSON that Trello exports of a board',
    examples: ["muster import trello board.json --project WEB --status 'Next week=ready'"],
  },
  muster: {
    summary: 'A board file of Muster, into a project that is there',
    file: 'a board file, with epics and stories',
    examples: ['muster import muster board.json --project WEB'],
  },
  csv: {
    summary: 'Rows of any CSV',
    file: 'a CSV with a head',
    examples: ['muster import csv backlog.csv --project WEB --map title=What --dry-run'],
  },
};

const pairs =
  (form: string, check: (name: string, value: string) => string | undefined = () => undefined) =>
  (typed: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> => {
    const at = typed.lastIndexOf('=');
    const [name, value] = [typed.slice(0, Math.max(0, at)).trim(), typed.slice(at + 1).trim()];
    if (name === '' || value === '') throw new InvalidArgumentError(`It must be ${form}.`);
    const problem = check(name, value);
    if (problem !== undefined) throw new InvalidArgumentError(problem);
    return new Map([...before, [name, value]]);
  };

const isCsvField = (text: string): text is CsvField => (csvFields as string[]).includes(text);

/** Splits a mapping at its first `=`. The name of a column may contain `=`; the name of a field cannot. */
function toMap(typed: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const [field = '', ...column] = typed.split('=');
  if (!isCsvField(field) || column.length === 0) {
    throw new InvalidArgumentError(`It must be <field>=<column>, the field one of ${csvFields.join(', ')}.`);
  }
  return new Map([...before, [field, column.join('=')]]);
}

function addFormat(parent: Command, format: FileFormat): void {
  const { summary, file, examples } = about[format];
  const command = parent
    .command(format)
    .summary(summary)
    .description(
      `${summary}, into a project. What was brought in before is found again: it follows the file, unless it was changed here. A run that was cut off goes on when the command is run again.`,
    )
    .argument('<file>', `${file}; - is stdin`)
    .requiredOption('--project <key>', 'the project')
    .option(
      '--status <there=here>',
      "a status of the file, and where it goes: a status here or a column's name; *=backlog for the rest; repeat it",
      pairs('<status there>=<status or column here>'),
    )
    .option(
      '--person <name=email>',
      'the address of a person whom the file knows by name; repeat it',
      pairs('<name>=<email>', (_, email) =>
        email.includes('@') ? undefined : 'It must end with an address.',
      ),
    )
    .addOption(
      new Option('--dates <order>', 'which comes first in dates such as 01/02/2024').choices(['mdy', 'dmy']),
    )
    .option('--theirs', 'let the file count also where a story was changed here');
  if (format === 'csv') {
    command.option('--map <field=column>', `which column is a field (${csvFields.join(', ')})`, toMap);
  }
  if (format === 'csv' || format === 'plane') {
    command.option('--source <name>', 'keeps the ids of this file apart from those of another');
  }
  if (format === 'jira') command.option('--site <url>', 'the address of the site, for links back');
  command
    .option('--dry-run', 'show what would come in and where statuses would go, and change nothing')
    .option('--json', 'print the report as JSON, for scripts')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`);
  addConnectionFlags(command).action((name: string, flags: ImportFlags) => runImport(format, name, flags));
}

export function fillImport(command: Command): void {
  command.description(
    'Brings stories in from another tracker: with epics, comments, labels and what waits for what. It is for leads of the project. A board file becomes a new project, all or nothing.',
  );
  for (const format of fileFormats) addFormat(command, format);
  fillBoard(command.command('board').summary('A board file, as a new project'));
}

/** Opens a source that can be read several times. Standard input is read once and kept. */
async function sourceOf(file: string): Promise<Source> {
  if (file === '-') {
    const pieces = await Array.fromAsync(decoded(process.stdin));
    return async function* kept() {
      await Promise.resolve();
      yield* pieces;
    };
  }
  try {
    await access(file, constants.R_OK);
    if ((await stat(file)).isDirectory()) throw new Error('it is a folder');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return () => decoded(createReadStream(file));
}

/**
 * The retry time in seconds. It covers a restart of the API, because waiting is better than starting a long
 * import again.
 */
const patienceSeconds = 60;

/** Reads the columns of the board. A trial run works without them if no API is available. */
async function columnsOf(
  project: string,
  connection: CommandConnection | undefined,
  isTrial: boolean,
): Promise<Columns> {
  if (connection === undefined) return undefined;
  try {
    const { items } = await createClient(transportOf(connection)).boardColumns.list({ projectId: project });
    return items;
  } catch (error) {
    if (isTrial && error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** The flags with which a user supplies data that the imported file lacks. */
const flagFor = { columns: ': --map title=<column> says which', dates: ': --dates says it' };

async function runImport(format: FileFormat, name: string, flags: ImportFlags): Promise<void> {
  try {
    await bringIn(format, name, flags);
  } catch (error) {
    throw error instanceof NoImport
      ? new UsageError(`${name}: ${error.message}${error.lack === undefined ? '' : flagFor[error.lack]}`)
      : error;
  }
}

async function bringIn(format: FileFormat, name: string, flags: ImportFlags): Promise<void> {
  const { project, dryRun = false, json = false, theirs = false } = flags;
  const { map, source: ids, site } = flags;
  const source = await sourceOf(name);
  const file = await openFile(format, source, { ...(map && { map }), source: ids, site });
  const connection = await findConnection(flags).catch((error: unknown) => {
    if (dryRun && error instanceof UsageError) return undefined;
    throw error;
  });
  const people = new Map([...(flags.person ?? [])].map(([person, email]) => [person.toLowerCase(), email]));
  const columns = await columnsOf(project, connection, dryRun);
  const fitting: Fitting = { placeOf: placesOf(columns, flags.status), dates: flags.dates, people };
  const survey = await surveyFile(file, fitting);
  const without = unplaced(survey);
  const { width } = pageOfStdout();
  const say = (lines: readonly string[]): void => {
    if (!json) process.stdout.write(`${wrapped(lines, width).join('\n')}\n`);
  };

  say(previewLines(survey));
  if (dryRun || without.length > 0) {
    if (json) process.stdout.write(`${jsonText(jsonReport(survey))}\n`);
    say([...leftOutLines(survey), ...(dryRun ? ['Nothing was changed.'] : [])]);
    if (without.length > 0) throw new UsageError(unplacedText(without));
    refuseSome(survey.refused.length);
    return;
  }
  if (connection === undefined) throw new Error('only a trial run has no connection');
  const report = emptyReport();
  const progress = progressOf(survey.entries);
  const into = {
    imports: createClient(transportOf(connection, { patienceSeconds })).imports,
    ...{ project, theirs, name: importNameOf(format, name === '-' ? 'stdin' : path.basename(name), ids) },
  };
  const tell = (): void => {
    progress.end();
    if (json) process.stdout.write(`${jsonText(jsonReport(survey, report))}\n`);
    say([...leftOutLines(survey, report), ...summaryLines(report)]);
  };
  try {
    await importFile(file, fitting, into, progress.show, report);
  } catch (error) {
    // Report the part that was completed before the error. The user continues from there by repeating the
    // command.
    tell();
    throw error;
  }
  tell();
  refuseSome(survey.refused.length + report.refused.length);
}

function refuseSome(count: number): void {
  if (count > 0) throw new PartlyRefused(`${count} ${count === 1 ? 'item was' : 'items were'} refused`);
}
