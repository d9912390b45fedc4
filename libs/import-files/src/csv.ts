/** A table with a head, row by row. */
import { CsvError, parse } from 'csv-parse/sync';
import { NoImport, type Source } from './source.ts';

/** Names of columns, of a table or a board, are compared in small letters, with spaces for `-` and `_`. */
export const columnName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');

/** What spreadsheets and trackers put between cells. */
const delimiters = [',', ';', '\t'];

/** A row, by the names of its columns. */
export class Row {
  readonly #head: readonly string[];
  readonly #cells: readonly string[];
  readonly #titles: readonly string[];
  /** The line on which it ends, from 1. */
  readonly line: number;

  /** `head` has the names as columnName makes them, `titles` as they stand in the file. */
  constructor(head: readonly string[], cells: readonly string[], line: number, titles = head) {
    this.#head = head;
    this.#titles = titles;
    this.#cells = cells;
    this.line = line;
  }

  /** What stands in the columns of these names, in the order of the columns; empty cells are none. */
  all(...names: readonly string[]): string[] {
    return this.#head.flatMap((name, place) => {
      const text = names.includes(name) ? (this.#cells[place] ?? '').trim() : '';
      return text === '' ? [] : [text];
    });
  }

  /** The first of them. */
  get(...names: readonly string[]): string | undefined {
    return this.all(...names)[0];
  }

  /** The cell of a place, for columns that were chosen by it. */
  at(place: number | undefined): string | undefined {
    const text = (this.#cells[place ?? -1] ?? '').trim();
    return text === '' ? undefined : text;
  }

  /** The columns that have something in this row; those beyond the head are `column 7`. */
  filled(): { name: string; title: string; place: number }[] {
    return this.#cells.flatMap((cell, place) => {
      const name = this.#head[place] ?? `column ${place + 1}`;
      return cell.trim() === '' ? [] : [{ name, title: this.#titles[place] ?? name, place }];
    });
  }
}

/** A table that was opened. */
export interface Table {
  /** As they stand in the file. */
  readonly head: readonly string[];
  /** Semicolons separate cells where the comma is the decimal mark. */
  readonly hasDecimalComma: boolean;
  readonly rows: () => AsyncGenerator<Row>;
}

/** The characters of a text that stand outside of quotes decide where a record ends. */
async function* blocksOf(source: Source): AsyncGenerator<string> {
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

/** The delimiter that the head has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const head = text.replaceAll(/"[^"]*"/g, '').split('\n')[0] ?? '';
  const counts = delimiters.map((delimiter) => head.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** The first line of a table in which Excel names the delimiter. */
const separatorLine = /^\uFEFF?sep=([,;\t])\r?\n/i;

async function* recordsOf(
  source: Source,
): AsyncGenerator<{ line: number; cells: string[]; delimiter: string }> {
  let delimiter: string | undefined;
  let linesBefore = 0;
  for await (const read of blocksOf(source)) {
    const [line = '', named] = (delimiter === undefined && separatorLine.exec(read)) || [];
    const block = read.slice(line.length);
    if (line !== '') linesBefore = 1;
    delimiter ??= named;
    delimiter ??= delimiterOf(block);
    let parsed: { info: { lines: number }; record: string[] }[];
    try {
      parsed = parse(block, {
        ...{ bom: linesBefore === 0, info: true, relax_column_count: true, skip_empty_lines: true },
        delimiter,
      }) as unknown as typeof parsed;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const after = linesBefore === 0 ? '' : ` (counted from line ${linesBefore})`;
      throw new NoImport(`the file is no CSV: ${error.message}${after}`);
    }
    // csv-parse counts a line break of two characters within a cell as two lines.
    let countedTwice = 0;
    for (const { info, record } of parsed) {
      for (const cell of record) countedTwice += cell.split('\r\n').length - 1;
      yield { line: linesBefore + info.lines - countedTwice, cells: record, delimiter };
    }
    linesBefore += block.split('\n').length - 1;
  }
}

/** Opens a table; throws NoImport where there is none. */
export async function openTable(source: Source): Promise<Table> {
  let head: string[] | undefined;
  let hasDecimalComma = false;
  for await (const { cells, delimiter } of recordsOf(source)) {
    head = cells.map((name) => name.trim());
    hasDecimalComma = delimiter === ';';
    break;
  }
  if (head === undefined) throw new NoImport('the file is empty');
  const names = head.map(columnName);
  return {
    head,
    hasDecimalComma,
    async *rows() {
      let isHead = true;
      for await (const { line, cells } of recordsOf(source)) {
        if (!isHead) yield new Row(names, cells, line, head);
        isHead = false;
      }
    },
  };
}

/** The table has these columns; throws NoImport that names the first that is missing. */
export function needColumns({ head }: Table, what: string, ...wanted: readonly (readonly string[])[]): void {
  const names = new Set(head.map(columnName));
  for (const choices of wanted) {
    if (choices.some((name) => names.has(name))) continue;
    throw new NoImport(`the file is no export of ${what}: no column is called "${choices[0] ?? ''}"`);
  }
}
