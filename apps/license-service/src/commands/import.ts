/** The command `import`: imports licenses that were sold elsewhere from a file, in batches. */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { table } from '@muster/terminal';
import { Option } from 'commander';
import { importBatch, type Incoming, type LicenseImportOutcome } from '../operators/import.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { getProduct, type Product, usualProduct } from '../operators/products.ts';
import { type Context, type LicenseCommand, type Options, productIn, text, withProduct } from './command.ts';
import { readRows, type ImportFileRow } from './import-rows.ts';
import { termOf, withTerm } from './term.ts';

/**
 * The number of rows per transaction. A batch takes a short time, and an operator who stops the import loses
 * only one batch.
 */
const batchSize = 500;
/** The most rows that are printed for people; --json prints all. */
const mostShown = 50;

interface Done {
  readonly row: ImportFileRow;
  readonly outcome: LicenseImportOutcome;
}

/** The error with which a dry run rolls back its transaction. */
class OnlyTried extends Error {
  readonly outcomes: readonly LicenseImportOutcome[];
  constructor(outcomes: readonly LicenseImportOutcome[]) {
    super('dry run');
    this.outcomes = outcomes;
  }
}

async function tryBatch(
  pool: Context['pool'],
  product: Product,
  batch: readonly Incoming[],
): Promise<readonly LicenseImportOutcome[]> {
  try {
    return await inTransaction(pool, async (db) => {
      throw new OnlyTried(await importBatch(db, product, batch));
    });
  } catch (error) {
    if (error instanceof OnlyTried) return error.outcomes;
    throw error;
  }
}

/** Adds to an error that the earlier rows stay imported, because only the failed batch was rolled back. */
const stoppedAfter = (rows: number, error: unknown): unknown =>
  error instanceof Refused
    ? new Refused(
        error.reason,
        `${error.message}. This applies to the remaining rows: the first ${rows} rows were imported; import the same file again to continue`,
      )
    : error;

/** Writes new keys to disk before their transaction commits, so that no key of a sold license can be lost. */
const writeKeys = async (
  out: FileHandle,
  batch: readonly Incoming[],
  outcomes: readonly LicenseImportOutcome[],
) => {
  const lines = outcomes.flatMap((outcome, index) =>
    outcome.kind === 'issued' ? [`${cellOf(batch[index]?.orderRef ?? '')},${outcome.key}\n`] : [],
  );
  await out.appendFile(lines.join(''));
  await out.sync();
};

const cellOf = (value: string): string => (/[",\s]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

async function openOut(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.appendFile('order_ref,key\n');
    return handle;
  } catch (error) {
    throw new Refused(
      'out',
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function read(file: string, { keyPrefix }: Product, options: Options): Promise<ImportFileRow[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Refused(
      'file',
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const format = text(options, 'format') ?? (/\.(jsonl|ndjson)$/i.test(file) ? 'jsonl' : 'csv');
  const usual = { plan: text(options, 'plan'), term: termOf(options), keyPrefix };
  return readRows(content, format === 'jsonl' ? 'jsonl' : 'csv', usual);
}

async function importRows(
  { pool, progress }: Pick<Context, 'pool' | 'progress'>,
  product: Product,
  rows: readonly ImportFileRow[],
  out: FileHandle | undefined,
  isDry: boolean,
): Promise<Done[]> {
  const done = rows.flatMap((row): Done[] =>
    row.problem === undefined ? [] : [{ row, outcome: { kind: 'refused', problem: row.problem } }],
  );
  const fit = rows.filter(({ incoming }) => incoming !== undefined);
  for (let start = 0; start < fit.length; start += batchSize) {
    progress(done.length, rows.length);
    const part = fit.slice(start, start + batchSize);
    const batch = part.flatMap(({ incoming }) => incoming ?? []);
    const outcomes = isDry
      ? await tryBatch(pool, product, batch)
      : await inTransaction(pool, async (db) => {
          const made = await importBatch(db, product, batch);
          if (out !== undefined) await writeKeys(out, batch, made);
          return made;
        }).catch((error: unknown) => {
          throw start === 0 ? error : stoppedAfter(start, error);
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
const reported = ({ row: { line, orderRef }, outcome }: Done) => ({
  ...{ line, orderRef, outcome: outcome.kind },
  ...(outcome.kind === 'refused' ? { problem: outcome.problem } : { id: outcome.id }),
});

function linesOf(done: readonly Done[], isDry: boolean, file: string | undefined): string[] {
  const countOf = (kind: LicenseImportOutcome['kind']): number =>
    done.filter(({ outcome }) => outcome.kind === kind).length;
  const refused = done.flatMap(({ row, outcome }) =>
    outcome.kind === 'refused' ? [[String(row.line), row.orderRef ?? '-', outcome.problem]] : [],
  );
  const figures = `${countOf('imported')} imported with their keys, ${countOf('issued')} issued with new keys, ${countOf('unchanged')} unchanged, ${refused.length} refused.`;
  return [
    isDry ? `Dry run, nothing was changed: ${figures}` : figures,
    ...(file !== undefined && countOf('issued') > 0 ? [`The new keys are in ${file}.`] : []),
    ...(refused.length === 0 ? [] : ['', ...table(['LINE', 'ORDER', 'WHY'], refused.slice(0, mostShown))]),
    ...(refused.length > mostShown ? [`… and ${refused.length - mostShown} more (--json has them all)`] : []),
  ];
}

export const importCommand: LicenseCommand = {
  name: 'import',
  description: 'Import licenses from a CSV or JSON lines file; repeating the import changes nothing',
  shape: (command) =>
    withProduct(withTerm(command))
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
    const outFile = text(options, 'out');
    const product = await reading(context.pool, (db) => getProduct(db, productIn(options) ?? usualProduct));
    const rows = await read(file, product, options);
    const isIssuing = rows.some(({ incoming }) => incoming !== undefined && incoming.key === undefined);
    if (isIssuing && !isDry && outFile === undefined) {
      throw new Refused('no_out', 'rows without a key get a new one: give a new file for them with --out');
    }
    const out = isIssuing && !isDry && outFile !== undefined ? await openOut(outFile) : undefined;
    try {
      const done = await importRows(context, product, rows, out, isDry);
      return {
        json: { isDryRun: isDry, rows: done.map(reported) },
        lines: linesOf(done, isDry, outFile),
        isBad: done.some(({ outcome }) => outcome.kind === 'refused'),
      };
    } finally {
      await out?.close();
    }
  },
};
