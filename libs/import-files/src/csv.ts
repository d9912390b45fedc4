/** Reads a table with a head, row by row. */
import { CsvError, parse } from 'csv-parse/sync';
import { UnreadableFileError, type TextSource } from './source.ts';

/**
 * Normalizes the name of a table's column or of a board's column for comparison: the name becomes lower case,
 * and `-` and `_` become spaces.
 */
export const normalizeColumnName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');

/** The delimiters that spreadsheets and trackers use. */
const delimiters = [',', ';', '\t'];

/** A row, with access by the names of its columns. */
export class ParsedRow {
  readonly #head: readonly string[];
  readonly #cells: readonly string[];
  readonly #titles: readonly string[];
  /** The line on which the row ends, from 1. */
  readonly line: number;

  /**
   * `head` contains the column names in the form that columnName returns. `titles` contains the names as in
   * the file.
   */
  constructor(head: readonly string[], cells: readonly string[], line: number, titles = head) {
    this.#head = head;
    this.#titles = titles;
    this.#cells = cells;
    this.line = line;
  }

  /** Returns the cells of the columns with these names, in the order of the columns, without empty cells. */
  getAll(...names: readonly string[]): string[] {
    return this.#head.flatMap((name, place) => {
      const text = names.includes(name) ? (this.#cells[place] ?? '').trim() : '';
      return text === '' ? [] : [text];
    });
  }

  /** Returns the first value among the columns with these names. */
  get(...names: readonly string[]): string | undefined {
    return this.getAll(...names)[0];
  }

  /** Returns the cell at an index, for columns that were chosen by index. */
  getByIndex(index: number | undefined): string | undefined {
    const text = (this.#cells[index ?? -1] ?? '').trim();
    return text === '' ? undefined : text;
  }

  /**
   * Lists the columns that have a value in this row. A column without a name in the head is named by its
   * number, such as `column 7`.
   */
  listFilledColumns(): { name: string; title: string; place: number }[] {
    return this.#cells.flatMap((cell, place) => {
      const name = this.#head[place] ?? `column ${place + 1}`;
      return cell.trim() === '' ? [] : [{ name, title: this.#titles[place] ?? name, place }];
    });
  }
}

/** An opened table. */
export interface Table {
  /** The names of the columns as in the file. */
  readonly head: readonly string[];
  /** True if semicolons separate the cells, because the comma is then the decimal mark. */
  readonly hasDecimalComma: boolean;
  readonly rows: () => AsyncGenerator<ParsedRow>;
}

/** Splits the text into blocks of whole records. Only characters outside of quotes can end a record. */
async function* readRecordBlocks(source: TextSource): AsyncGenerator<string> {
  let held = '';
  let isQuoted = false;
  for await (const part of source()) {
    let cut = -1;
    for (let place = 0; place < part.length; place += 1) {
      const character = part.charCodeAt(place);
      if (character === 34) isQuoted = !isQuoted;
      else if (character === 10 && !isQuoted) cut = place + 1;
    }
    if (cut < 0) {
      held += part;
      continue;
    }
    yield held + part.slice(0, cut);
    held = part.slice(cut);
  }
  if (held !== '') yield held;
}

/** Returns the delimiter that is most frequent in the head, outside of quotes. */
function detectDelimiter(text: string): string {
  const head = text.replaceAll(/"[^"]*"/g, '').split('\n')[0] ?? '';
  const counts = delimiters.map((delimiter) => head.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** A first line in which Excel names the delimiter. */
const separatorLinePattern = /^\uFEFF?sep=([,;\t])\r?\n/i;

async function* readRecords(
  source: TextSource,
): AsyncGenerator<{ line: number; cells: string[]; delimiter: string }> {
  let delimiter: string | undefined;
  let linesBefore = 0;
  for await (const read of readRecordBlocks(source)) {
    const [line = '', named] = (delimiter === undefined && separatorLinePattern.exec(read)) || [];
    const block = read.slice(line.length);
    if (line !== '') linesBefore = 1;
    delimiter ??= named;
    delimiter ??= detectDelimiter(block);
    let parsed: { info: { lines: number }; record: string[] }[];
    try {
      parsed = parse(block, {
        ...{ bom: linesBefore === 0, info: true, relax_column_count: true, skip_empty_lines: true },
        delimiter,
      }) as unknown as typeof parsed;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const after = linesBefore === 0 ? '' : ` (counted from line ${linesBefore})`;
      throw new UnreadableFileError(`the file is not valid CSV: ${error.message}${after}`);
    }
    // csv-parse counts a CRLF within a cell as two lines.
    let countedTwice = 0;
    for (const { info, record } of parsed) {
      for (const cell of record) countedTwice += cell.split('\r\n').length - 1;
      yield { line: linesBefore + info.lines - countedTwice, cells: record, delimiter };
    }
    linesBefore += block.split('\n').length - 1;
  }
}

/** Opens a table. Throws UnreadableFileError if the file has none. */
export async function openTable(source: TextSource): Promise<Table> {
  let head: string[] | undefined;
  let hasDecimalComma = false;
  for await (const { cells, delimiter } of readRecords(source)) {
    head = cells.map((name) => name.trim());
    hasDecimalComma = delimiter === ';';
    break;
  }
  if (head === undefined) throw new UnreadableFileError('the file is empty');
  const names = head.map(normalizeColumnName);
  return {
    head,
    hasDecimalComma,
    async *rows() {
      let isHead = true;
      for await (const { line, cells } of readRecords(source)) {
        if (!isHead) yield new ParsedRow(names, cells, line, head);
        isHead = false;
      }
    },
  };
}

/** Checks that the table has these columns. Throws UnreadableFileError that names the first missing one. */
export function requireColumns(
  { head }: Table,
  trackerName: string,
  ...requiredColumns: readonly (readonly string[])[]
): void {
  const names = new Set(head.map(normalizeColumnName));
  for (const choices of requiredColumns) {
    if (choices.some((name) => names.has(name))) continue;
    throw new UnreadableFileError(
      `the file is not an export of ${trackerName}: it has no column named "${choices[0] ?? ''}"`,
    );
  }
}
