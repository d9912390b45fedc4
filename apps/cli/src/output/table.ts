/** Formats records as aligned columns. */
import { isUuid } from '@muster/contract';
import truncate from 'cli-truncate';
import stringWidth from 'string-width';
import { formatCell } from './cells.ts';

interface TableColumn {
  readonly head: string;
  readonly cells: readonly string[];
  /** The minimum width of the column while other columns can still shrink. Identifiers are never cut. */
  readonly minWidth: number;
  /** The minimum width of the column when only two columns are left. Identifiers are never cut. */
  readonly lastResortMinWidth: number;
  width: number;
}

/** The fields that identify a record to people. A table shows the first of them that the records have. */
const identifyingFields = ['key', 'storyKey', 'slug', 'id', 'seq'];
/** The fields that name a record. They follow the identifying field. They may be cut, but not removed. */
const namingFields = new Set(['title', 'name', 'email', 'message', 'body', 'resources']);
/** Fields that a list does not show, because people do not need them. */
const hiddenFields = new Set(['rank', 'version', 'number']);
const columnGap = 2;

/** Returns the text of a cell. A list of nested records is shown as their number. */
function formatTableCell(value: unknown): string | undefined {
  const cell = formatCell(value);
  return cell === undefined && Array.isArray(value) ? String(value.length) : cell;
}

const containsUuid = (value: unknown): boolean =>
  [value].flat().some((item) => typeof item === 'string' && isUuid(item));

/**
 * Formats a field name as a table heading: `createdAt` becomes `CREATED`, and `storyKey` becomes `STORY KEY`.
 */
const headingOf = (field: string): string =>
  field
    .replace(/(?<=.)At$/, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toUpperCase();

/** Returns the fields that a list shows, most important first. */
function defaultFieldsOf(items: readonly Readonly<Record<string, unknown>>[]): string[] {
  const all = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const identity = identifyingFields.find((field) => all.includes(field));
  const rankOf = (field: string): number =>
    field === identity ? 0 : namingFields.has(field) ? 1 : field.endsWith('At') ? 3 : 2;
  return all
    .filter(
      (field) =>
        field === identity ||
        !(hiddenFields.has(field) || identifyingFields.includes(field) || /Ids?$/.test(field)),
    )
    .filter((field) => items.every((item) => formatTableCell(item[field]) !== undefined))
    .filter((field) => items.some((item) => formatTableCell(item[field]) !== ''))
    .filter((field) => field === identity || !items.some((item) => containsUuid(item[field])))
    .map((field, place) => ({ field, place, rank: rankOf(field) }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ field }) => field);
}

const buildColumn = (field: string, items: readonly Readonly<Record<string, unknown>>[]): TableColumn => {
  const head = headingOf(field);
  const cells = items.map((item) => formatTableCell(item[field]) ?? '');
  const width = Math.max(stringWidth(head), ...cells.map((cell) => stringWidth(cell)));
  const isIdentity = identifyingFields.includes(field);
  const least = isIdentity ? width : Math.min(width, namingFields.has(field) ? 24 : 16);
  return { head, cells, width, minWidth: least, lastResortMinWidth: isIdentity ? width : Math.min(width, 4) };
};

/** Narrows the widest column until all fit. If that is not enough, removes the last columns. */
function fitColumns(columns: TableColumn[], width: number): void {
  const tooWide = (): number =>
    columns.reduce((sum, column) => sum + column.width + columnGap, -columnGap) - width;
  while (tooWide() > 0) {
    const isLastResort = columns.length <= 2;
    const [widest] = columns
      .filter(
        ({ width: now, minWidth, lastResortMinWidth }) =>
          now > (isLastResort ? lastResortMinWidth : minWidth),
      )
      .sort((a, b) => b.width - a.width);
    if (widest !== undefined) widest.width -= 1;
    else if (columns.length > 1) columns.pop();
    else return;
  }
}

/**
 * Returns a heading line and one line for each item, no wider than `width` if it is given. `fields` selects
 * and orders the columns.
 */
export function formatTable(
  items: readonly Readonly<Record<string, unknown>>[],
  width: number | undefined,
  fields = defaultFieldsOf(items),
): { head: string; lines: string[] } {
  const columns = fields.map((field) => buildColumn(field, items));
  if (width !== undefined) fitColumns(columns, width);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, place) => {
        const shown = truncate(cell, columns[place]?.width ?? 0);
        return shown + ' '.repeat((columns[place]?.width ?? 0) - stringWidth(shown) + columnGap);
      })
      .join('')
      .trimEnd();
  return {
    head: line(columns.map(({ head }) => head)),
    lines: items.map((_, row) => line(columns.map(({ cells }) => cells[row] ?? ''))),
  };
}
