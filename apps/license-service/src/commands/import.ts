/** The command `import`: imports licenses that were sold elsewhere from a file, in batches. */
import { readFile, type FileHandle } from 'node:fs/promises';
import { formatTable } from '@muster/terminal';
import { Option } from 'commander';
import { importBatch, type IncomingLicense, type LicenseImportOutcome } from '../operators/import.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { getProduct, type Product, defaultProduct } from '../operators/products.ts';
import {
  type CommandContext,
  type LicenseCommand,
  type CommandOptions,
  productOption,
  textOption,
  addProductOption,
  createFile,
  errorMessageOf,
} from './command.ts';
import { parseImportFile, type ImportFileRow } from './import-rows.ts';
import { termOptions, addTermOptions } from './term.ts';

/**
 * The number of rows per transaction. A batch takes a short time, and an operator who stops the import loses
 * only one batch.
 */
const batchSize = 500;
/** The most rows that are printed for people; --json prints all. */
const maxPrintedRefusals = 50;

interface ImportedRow {
  readonly row: ImportFileRow;
  readonly outcome: LicenseImportOutcome;
}

/** The error with which a dry run rolls back its transaction. */
class DryRunRollback extends Error {
  readonly outcomes: readonly LicenseImportOutcome[];
  constructor(outcomes: readonly LicenseImportOutcome[]) {
    super('dry run');
    this.outcomes = outcomes;
  }
}

async function dryRunBatch(
  pool: CommandContext['pool'],
  product: Product,
  batch: readonly IncomingLicense[],
): Promise<readonly LicenseImportOutcome[]> {
  try {
    return await inTransaction(pool, async (db) => {
      throw new DryRunRollback(await importBatch(db, product, batch));
    });
  } catch (error) {
    if (error instanceof DryRunRollback) return error.outcomes;
    throw error;
  }
}

/** Adds to an error that the earlier rows stay imported, because only the failed batch was rolled back. */
const importStoppedError = (importedRows: number, error: unknown): unknown =>
  error instanceof RefusedError
    ? new RefusedError(
        error.reason,
        `${error.message}. This applies to the remaining rows: the first ${importedRows} rows were imported; import the same file again to continue`,
      )
    : error;

/** Writes new keys to disk before their transaction commits, so that no key of a sold license can be lost. */
const writeKeys = async (
  keyFile: FileHandle,
  batch: readonly IncomingLicense[],
  outcomes: readonly LicenseImportOutcome[],
) => {
  const lines = outcomes.flatMap((outcome, index) =>
    outcome.kind === 'issued' ? [`${toCsvCell(batch[index]?.orderRef ?? '')},${outcome.key}\n`] : [],
  );
  await keyFile.appendFile(lines.join(''));
  await keyFile.sync();
};

const toCsvCell = (value: string): string =>
  /[",\s]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

async function createKeyFile(file: string): Promise<FileHandle> {
  const handle = await createFile(file);
  await handle.appendFile('order_ref,key\n');
  return handle;
}

async function readImportFile(
  file: string,
  { keyPrefix }: Product,
  options: CommandOptions,
): Promise<ImportFileRow[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new RefusedError('file', `${file} cannot be read: ${errorMessageOf(error)}`);
  });
  const format = textOption(options, 'format') ?? (/\.(jsonl|ndjson)$/i.test(file) ? 'jsonl' : 'csv');
  const usual = { plan: textOption(options, 'plan'), term: termOptions(options), keyPrefix };
  return parseImportFile(content, format === 'jsonl' ? 'jsonl' : 'csv', usual);
}

async function importRows(
  { pool, progress }: Pick<CommandContext, 'pool' | 'progress'>,
  product: Product,
  rows: readonly ImportFileRow[],
  keyFile: FileHandle | undefined,
  isDry: boolean,
): Promise<ImportedRow[]> {
  const done = rows.flatMap((row): ImportedRow[] =>
    row.problem === undefined ? [] : [{ row, outcome: { kind: 'refused', problem: row.problem } }],
  );
  const fit = rows.filter(({ license }) => license !== undefined);
  for (let start = 0; start < fit.length; start += batchSize) {
    progress(done.length, rows.length);
    const part = fit.slice(start, start + batchSize);
    const batch = part.flatMap(({ license }) => license ?? []);
    const outcomes = isDry
      ? await dryRunBatch(pool, product, batch)
      : await inTransaction(pool, async (db) => {
          const made = await importBatch(db, product, batch);
          if (keyFile !== undefined) await writeKeys(keyFile, batch, made);
          return made;
        }).catch((error: unknown) => {
          throw start === 0 ? error : importStoppedError(start, error);
        });
    part.forEach((row, index) => {
      const outcome = outcomes[index];
      if (outcome !== undefined) done.push({ row, outcome });
    });
  }
  progress(rows.length, rows.length);
  return done.sort((one, other) => one.row.line - other.row.line);
}

/** Returns the report of a row, without its key. */
const rowReportOf = ({ row: { line, orderRef }, outcome }: ImportedRow) => ({
  ...{ line, orderRef, outcome: outcome.kind },
  ...(outcome.kind === 'refused' ? { problem: outcome.problem } : { id: outcome.id }),
});

function reportLines(
  importedRows: readonly ImportedRow[],
  isDry: boolean,
  file: string | undefined,
): string[] {
  const countOf = (kind: LicenseImportOutcome['kind']): number =>
    importedRows.filter(({ outcome }) => outcome.kind === kind).length;
  const refused = importedRows.flatMap(({ row, outcome }) =>
    outcome.kind === 'refused' ? [[String(row.line), row.orderRef ?? '-', outcome.problem]] : [],
  );
  const figures = `${countOf('imported')} imported with their keys, ${countOf('issued')} issued with new keys, ${countOf('unchanged')} unchanged, ${refused.length} refused.`;
  return [
    isDry ? `Dry run, nothing was changed: ${figures}` : figures,
    ...(file !== undefined && countOf('issued') > 0 ? [`The new keys are in ${file}.`] : []),
    ...(refused.length === 0
      ? []
      : ['', ...formatTable(['LINE', 'ORDER', 'WHY'], refused.slice(0, maxPrintedRefusals))]),
    ...(refused.length > maxPrintedRefusals
      ? [`… and ${refused.length - maxPrintedRefusals} more (--json has them all)`]
      : []),
  ];
}

export const importCommand: LicenseCommand = {
  name: 'import',
  description: 'Import licenses from a CSV or JSON lines file; repeating the import changes nothing',
  configure: (command) =>
    addProductOption(addTermOptions(command))
      .argument(
        '<file>',
        'with order_ref; and key, plan, for, expires, perpetual, customer_ref, transfers, machines',
      )
      .addOption(
        new Option('--format <format>', 'csv or jsonl; by default from the file name').choices([
          'csv',
          'jsonl',
        ]),
      )
      .option('--plan <plan>', 'for rows without a plan')
      .option('--out <file>', 'a new file for the keys of rows without a key')
      .option('--dry-run', 'show the result for each row, and change nothing'),
  run: async (context, options, [file = '']) => {
    const isDry = options['dryRun'] === true;
    const outFile = textOption(options, 'out');
    const product = await inReadOnlyTransaction(context.pool, (db) =>
      getProduct(db, productOption(options) ?? defaultProduct),
    );
    const rows = await readImportFile(file, product, options);
    const isIssuing = rows.some(({ license }) => license !== undefined && license.key === undefined);
    if (isIssuing && !isDry && outFile === undefined)
      throw new RefusedError(
        'no_out',
        'rows without a key get a new one: give a new file for them with --out',
      );
    const out = isIssuing && !isDry && outFile !== undefined ? await createKeyFile(outFile) : undefined;
    try {
      const done = await importRows(context, product, rows, out, isDry);
      return {
        json: { isDryRun: isDry, rows: done.map(rowReportOf) },
        lines: reportLines(done, isDry, outFile),
        foundProblem: done.some(({ outcome }) => outcome.kind === 'refused'),
      };
    } finally {
      await out?.close();
    }
  },
};
