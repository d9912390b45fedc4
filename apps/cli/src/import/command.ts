/** muster import. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { counted, jsonText, plain } from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PartlyRefused, UsageError } from '../failures.ts';
import { clientOf } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { readBoard } from './board.ts';
import { type CsvField, csvFields, readCsv } from './csv.ts';
import { readIssues } from './github.ts';
import { progressOf } from './progress.ts';
import { type Source } from './rows.ts';
import { emptyReport, importStories, type Report, whyNot } from './stories.ts';

const formats = ['board', 'github', 'csv'] as const;

interface ImportFlags extends ConnectionFlags {
  readonly project: string;
  readonly format: (typeof formats)[number];
  readonly name?: string;
  readonly map?: ReadonlyMap<CsvField, string>;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const isCsvField = (text: string): text is CsvField => (csvFields as string[]).includes(text);

function toMap(
  typed: string,
  before: ReadonlyMap<CsvField, string> = new Map(),
): ReadonlyMap<CsvField, string> {
  const [field = '', ...column] = typed.split('=');
  if (!isCsvField(field) || column.length === 0) {
    throw new InvalidArgumentError(`It must be <field>=<column>, the field one of ${csvFields.join(', ')}.`);
  }
  return new Map([...before, [field, column.join('=')]]);
}

export function fillImport(command: Command): void {
  addConnectionFlags(
    command
      .description(
        `Brings stories in. A board file becomes a new project, all or nothing. Issues of GitHub (\`gh issue list --state all --limit 1000 --json number,title,body,labels,state,stateReason,url\`, or the answer of the REST API) and the rows of a CSV become stories of a project that exists, one by one.

What was brought in before is not made twice: an issue is known by its number, a row by its id; a row without one by what it says, for 24 hours.`,
      )
      .argument('<file>', 'the file; - is stdin')
      .requiredOption('--project <key>', 'the project; of a board file, the key of the new one')
      .addOption(new Option('--format <format>', 'what the file is').choices(formats).makeOptionMandatory())
      .option('--name <name>', "of a board file: the new project's name; the board's unless said")
      .option('--map <field=column>', `of CSV: which column is a field (${csvFields.join(', ')})`, toMap)
      .option('--dry-run', 'check every row against the contract, and change nothing')
      .option('--json', 'print the report as JSON, for scripts')
      .addHelpText(
        'after',
        `
Examples:
  muster import board.json --project SHOP --format board
  gh issue list --state all --limit 1000 --json number,title,body,labels,state,stateReason,url | muster import - --project WEB --format github
  muster import backlog.csv --project WEB --format csv --map title=Summary --dry-run`,
      ),
  ).action(importFile);
}

async function textOf(file: string): Promise<string> {
  if (file === '-') return readAll(process.stdin);
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  });
}

async function importFile(file: string, flags: ImportFlags): Promise<void> {
  if (flags.format === 'board') {
    await importBoard(file, flags);
    return;
  }
  const text = await textOf(file);
  const name = path.basename(file);
  const source =
    flags.format === 'github' ? readIssues(text, name) : readCsv(text, name, flags.map ?? new Map());
  const report = emptyReport();
  if (flags.dryRun === true) checkRows(source, flags.project, report);
  else {
    const connection = await findConnection(flags);
    const progress = progressOf(source.rows.length);
    try {
      await importStories(connection, flags.project, source.rows, progress, report);
    } catch (error) {
      progress.end();
      // What was done stays, and is said; the same command goes on from there.
      show(source, report, flags);
      throw error;
    }
    progress.end();
  }
  show(source, report, flags);
  if (report.refused.length > 0) {
    throw new PartlyRefused(`${report.refused.length} of ${source.rows.length} were refused`);
  }
}

function checkRows({ rows }: Source, project: string, report: Report): void {
  for (const row of rows) {
    const why = whyNot(project, row);
    if (why !== undefined) report.refused.push({ place: row.place, why });
  }
}

function show(
  { rows, notes }: Source,
  { created, present, refused }: Report,
  { json, dryRun }: ImportFlags,
): void {
  if (json === true) {
    process.stdout.write(`${jsonText({ rows: rows.length, created, present, refused, notes })}\n`);
    return;
  }
  const [first, last] = [created[0]?.key, created.at(-1)?.key];
  const keys = first === undefined ? '' : first === last ? ` (${first})` : ` (${first} to ${last ?? ''})`;
  const summary =
    dryRun === true
      ? `${rows.length - refused.length} of ${rows.length} would be brought in; nothing was changed.`
      : `Made ${created.length}${keys}; ${present.length} were there already.`;
  const lines = [...notes, ...refused.map(({ place, why }) => `${place}: ${why}`), summary];
  process.stdout.write(`${lines.map(plain).join('\n')}\n`);
}

async function importBoard(
  file: string,
  { project, name, dryRun, json, ...flags }: ImportFlags,
): Promise<void> {
  const { params, issues } = await readBoard(file, project, name);
  if (issues.length > 0) {
    throw new UsageError(`${file} does not fit:\n${issues.map((issue) => `  ${issue}`).join('\n')}`);
  }
  const count = `${counted(params.stories?.length ?? 0, 'story', 'stories')} and ${counted(params.epics?.length ?? 0, 'epic')}`;
  if (dryRun === true) {
    process.stdout.write(
      json === true
        ? `${jsonText({ stories: params.stories?.length, epics: params.epics?.length })}\n`
        : `${count} would be brought in; nothing was changed.\n`,
    );
    return;
  }
  const result = await clientOf(await findConnection(flags)).projects.convertLocal(params);
  process.stdout.write(
    json === true
      ? `${jsonText(result)}\n`
      : `Brought in ${count} as the project ${plain(result.project.name)} (${result.project.key}).\n`,
  );
}
