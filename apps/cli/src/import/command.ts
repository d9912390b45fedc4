/** The command `muster import`. */
import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { createClient, NoAnswer } from '@muster/client';
import {
  type TargetColumns,
  csvFields,
  type CsvField,
  type DateOrder,
  decodeText,
  createEmptyReport,
  type FileFormat,
  fileFormats,
  type ConversionOptions,
  importFile,
  buildImportName,
  UnreadableFileError,
  openFile,
  createStatusMapper,
  type TextSource,
  surveyFile,
} from '@muster/import-files';
import { terminalSafeJson, stdoutFormat, UsageError, wrapLines } from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PartialRefusalError } from '../failures.ts';
import { createRetryingTransport, longRetrySeconds } from '../operations/run.ts';
import {
  addConnectionFlags,
  type CommandConnection,
  type ConnectionFlags,
  findConnection,
} from '../session/connection.ts';
import { configureArchiveImportCommand } from './archive-command.ts';
import { configureBoardImportCommand } from './board.ts';
import { createProgressBar } from './progress.ts';
import {
  jsonReport,
  omissionReportLines,
  previewLines,
  importSummaryLines,
  unmappedStatuses,
  unmappedStatusesMessage,
} from './words.ts';

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

const formatHelp: Readonly<
  Record<FileFormat, { summary: string; file: string; examples: readonly string[] }>
> = {
  linear: {
    summary: 'Linear: a CSV export from its settings, or a response of its API, which includes comments',
    file: "the CSV export from Linear's settings, or the API's response to a query for issues",
    examples: ['muster import linear export.csv --project WEB --dry-run'],
  },
  jira: {
    summary: 'Jira: a CSV export of a search, or a response of its REST API, version 2',
    file: 'the CSV of a search with all fields, or a response of /rest/api/2/search (fields=*all, expand=names)',
    examples: ['muster import jira jira.csv --project WEB --site https://acme.atlassian.net'],
  },
  github: {
    summary: 'GitHub: issues, or the items of a project',
    file: 'JSON from gh issue list, the REST API or gh project item-list',
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
    summary: 'Plane: a CSV or JSON export',
    file: 'the CSV or JSON export of Plane',
    examples: ['muster import plane export.csv --project WEB'],
  },
  trello: {
    summary: 'Trello: a JSON export of a board',
    file: 'the JSON export of a Trello board',
    examples: ["muster import trello board.json --project WEB --status 'Next week=ready'"],
  },
  muster: {
    summary: 'Muster: a board file, into an existing project',
    file: 'a board file, with epics and stories',
    examples: ['muster import muster board.json --project WEB'],
  },
  csv: {
    summary: 'Rows of any CSV file',
    file: 'a CSV file with a header row',
    examples: ['muster import csv backlog.csv --project WEB --map title=What --dry-run'],
  },
};

const createPairParser =
  (expectedForm: string, check: (name: string, value: string) => string | undefined = () => undefined) =>
  (typed: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> => {
    const at = typed.lastIndexOf('=');
    const [name, value] = [typed.slice(0, Math.max(0, at)).trim(), typed.slice(at + 1).trim()];
    if (name === '' || value === '') throw new InvalidArgumentError(`The value must be ${expectedForm}.`);
    const problem = check(name, value);
    if (problem !== undefined) throw new InvalidArgumentError(problem);
    return new Map([...before, [name, value]]);
  };

const isCsvField = (text: string): text is CsvField => (csvFields as string[]).includes(text);

/** Splits a mapping at its first `=`. The name of a column may contain `=`; the name of a field cannot. */
function addFieldMapping(
  argument: string,
  previousMappings: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const [field = '', ...column] = argument.split('=');
  if (!isCsvField(field) || column.length === 0)
    throw new InvalidArgumentError(
      `The value must be <field>=<column>, the field one of ${csvFields.join(', ')}.`,
    );
  return new Map([...previousMappings, [field, column.join('=')]]);
}

function addImportFormatCommand(parent: Command, format: FileFormat): void {
  const { summary, file, examples } = formatHelp[format];
  const command = parent
    .command(format)
    .summary(summary)
    .description(
      `${summary}, imported into a project. Items of an earlier import are recognized: they are updated from the file unless they were changed in Muster. To resume an interrupted import, run the command again.`,
    )
    .argument('<file>', `${file}; - is stdin`)
    .requiredOption('--project <key>', 'the project')
    .option(
      '--status <there=here>',
      'maps a status of the file to a status or column of the project; *=backlog for all others; repeatable',
      createPairParser('<status in the file>=<status or column>'),
    )
    .option(
      '--person <name=email>',
      'the e-mail address of a person named in the file; repeatable',
      createPairParser('<name>=<email>', (_, email) =>
        email.includes('@') ? undefined : 'It must end with an e-mail address.',
      ),
    )
    .addOption(new Option('--dates <order>', 'the order in dates such as 01/02/2024').choices(['mdy', 'dmy']))
    .option('--theirs', 'use the data of the file also for stories that were changed in Muster');
  if (format === 'csv')
    command.option(
      '--map <field=column>',
      `the column of a field (${csvFields.join(', ')})`,
      addFieldMapping,
    );
  if (format === 'csv' || format === 'plane')
    command.option('--source <name>', 'separates the ids of this file from those of other files');
  if (format === 'jira') command.option('--site <url>', "the site's address, to create links back");
  command
    .option('--dry-run', 'preview the import and the status mapping, and change nothing')
    .option('--json', 'print the report as JSON, for scripts')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`);
  addConnectionFlags(command).action((name: string, flags: ImportFlags) => runImport(format, name, flags));
}

export function configureImportCommand(command: Command): void {
  command.description(
    'Imports stories from another tracker, with epics, comments, labels and dependencies. Only leads of the project can import. A board file becomes a new project; either all of it or nothing. The archive of an export becomes the projects that it contains.',
  );
  for (const format of fileFormats) addImportFormatCommand(command, format);
  configureBoardImportCommand(command.command('board').summary('A board file, as a new project'));
  // `muster import acme.tar.gz` is short for `muster import archive acme.tar.gz`.
  configureArchiveImportCommand(command.command('archive', { isDefault: true }));
}

/** Opens a source that can be read several times. Standard input is read once and kept. */
async function openImportSource(file: string): Promise<TextSource> {
  if (file === '-') {
    const pieces = await Array.fromAsync(decodeText(process.stdin));
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
  return () => decodeText(createReadStream(file));
}

/** Reads the columns of the board. A trial run works without them if no API is available. */
async function fetchBoardColumns(
  project: string,
  connection: CommandConnection | undefined,
  isDryRun: boolean,
): Promise<TargetColumns> {
  if (connection === undefined) return undefined;
  try {
    const { items } = await createClient(createRetryingTransport(connection)).boardColumns.list({
      projectId: project,
    });
    return items;
  } catch (error) {
    if (isDryRun && error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** The flags with which a user supplies data that the imported file lacks. */
const missingDataHints = { columns: ': --map title=<column> says which', dates: ': --dates says it' };

async function runImport(format: FileFormat, name: string, flags: ImportFlags): Promise<void> {
  try {
    await previewAndImport(format, name, flags);
  } catch (error) {
    throw error instanceof UnreadableFileError
      ? new UsageError(
          `${name}: ${error.message}${error.lack === undefined ? '' : missingDataHints[error.lack]}`,
        )
      : error;
  }
}

async function previewAndImport(format: FileFormat, name: string, flags: ImportFlags): Promise<void> {
  const { project, dryRun = false, json = false, theirs = false } = flags;
  const { map, source: ids, site } = flags;
  const source = await openImportSource(name);
  const file = await openFile(format, source, {
    ...(map && { columnMapping: map }),
    sourceName: ids,
    siteUrl: site,
  });
  const connection = await findConnection(flags).catch((error: unknown) => {
    if (dryRun && error instanceof UsageError) return undefined;
    throw error;
  });
  const people = new Map([...(flags.person ?? [])].map(([person, email]) => [person.toLowerCase(), email]));
  const columns = await fetchBoardColumns(project, connection, dryRun);
  const fitting: ConversionOptions = {
    findStatusTarget: createStatusMapper(columns, flags.status),
    dateOrder: flags.dates,
    emailsByName: people,
  };
  const survey = await surveyFile(file, fitting);
  const without = unmappedStatuses(survey);
  const { width } = stdoutFormat();
  const say = (lines: readonly string[]): void => {
    if (!json) process.stdout.write(`${wrapLines(lines, width).join('\n')}\n`);
  };

  say(previewLines(survey));
  if (dryRun || without.length > 0) {
    if (json) process.stdout.write(`${terminalSafeJson(jsonReport(survey))}\n`);
    say([...omissionReportLines(survey), ...(dryRun ? ['Nothing was changed.'] : [])]);
    if (without.length > 0) throw new UsageError(unmappedStatusesMessage(without));
    throwIfAnyRefused(survey.refused.length);
    return;
  }
  if (connection === undefined) throw new Error('only a dry run works without a connection');
  const report = createEmptyReport();
  const progress = createProgressBar(survey.entries);
  const into = {
    imports: createClient(createRetryingTransport(connection, { retryTimeoutSeconds: longRetrySeconds }))
      .imports,
    ...{ project, theirs, name: buildImportName(format, name === '-' ? 'stdin' : path.basename(name), ids) },
  };
  const tell = (): void => {
    progress.end();
    if (json) process.stdout.write(`${terminalSafeJson(jsonReport(survey, report))}\n`);
    say([...omissionReportLines(survey, report), ...importSummaryLines(report)]);
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
  throwIfAnyRefused(survey.refused.length + report.refused.length);
}

function throwIfAnyRefused(count: number): void {
  if (count > 0) throw new PartialRefusalError(`${count} ${count === 1 ? 'item was' : 'items were'} refused`);
}
