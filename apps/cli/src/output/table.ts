/** Records as aligned columns. */
import { isUuid } from '@muster/registry';
import truncate from 'cli-truncate';
import stringWidth from 'string-width';
import { cellOf } from './cells.ts';

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  /** No narrower than this while others could go; what identifies a record is never cut. */
  readonly least: number;
  /** No narrower than this at all. */
  readonly bare: number;
  width: number;
}

/** What identifies a record to people, the first that it has. */
const identifying = ['key', 'storyKey', 'slug', 'id', 'seq'];
/** What it is called comes next, and may be cut, but not to nothing. */
const naming = new Set(['title', 'name', 'email', 'message', 'body', 'resources']);
/** Of no use to people in a list. */
const inner = new Set(['rank', 'version', 'number']);
const gap = 2;

/** Of records inside a record a list shows how many there are. */
function textOf(value: unknown): string | undefined {
  const cell = cellOf(value);
  return cell === undefined && Array.isArray(value) ? String(value.length) : cell;
}

const isOfIds = (value: unknown): boolean =>
  [value].flat().some((item) => typeof item === 'string' && isUuid(item));

/** `createdAt` → `CREATED`, `storyKey` → `STORY KEY`. */
const headOf = (field: string): string =>
  field
    .replace(/(?<=.)At$/, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toUpperCase();

/** The fields of a list that people want to see, what matters most first. */
function fieldsOf(items: readonly Readonly<Record<string, unknown>>[]): string[] {
  const all = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const identity = identifying.find((field) => all.includes(field));
  const rankOf = (field: string): number =>
    field === identity ? 0 : naming.has(field) ? 1 : field.endsWith('At') ? 3 : 2;
  return all
    .filter(
      (field) =>
        field === identity || !(inner.has(field) || identifying.includes(field) || /Ids?$/.test(field)),
    )
    .filter((field) => items.every((item) => textOf(item[field]) !== undefined))
    .filter((field) => items.some((item) => textOf(item[field]) !== ''))
    .filter((field) => field === identity || !items.some((item) => isOfIds(item[field])))
    .map((field, place) => ({ field, place, rank: rankOf(field) }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ field }) => field);
}

const columnOf = (field: string, items: readonly Readonly<Record<string, unknown>>[]): Column => {
  const head = headOf(field);
  const cells = items.map((item) => textOf(item[field]) ?? '');
  const width = Math.max(stringWidth(head), ...cells.map((cell) => stringWidth(cell)));
  const isIdentity = identifying.includes(field);
  const least = isIdentity ? width : Math.min(width, naming.has(field) ? 24 : 16);
  return { head, cells, width, least, bare: isIdentity ? width : Math.min(width, 4) };
};

/** Cuts the widest column until all fit; where that is not enough, the last ones are left out. */
function fit(columns: Column[], width: number): void {
  const tooWide = (): number => columns.reduce((sum, column) => sum + column.width + gap, -gap) - width;
  while (tooWide() > 0) {
    const isLastResort = columns.length <= 2;
    const [widest] = columns
      .filter(({ width: now, least, bare }) => now > (isLastResort ? bare : least))
      .sort((a, b) => b.width - a.width);
    if (widest !== undefined) widest.width -= 1;
    else if (columns.length > 1) columns.pop();
    else return;
  }
}

/** One line per item below a head; no wider than `width`, where one is given. `fields` says which, and in which order. */
export function tableOf(
  items: readonly Readonly<Record<string, unknown>>[],
  width: number | undefined,
  fields = fieldsOf(items),
): { head: string; lines: string[] } {
  const columns = fields.map((field) => columnOf(field, items));
  if (width !== undefined) fit(columns, width);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, place) => {
        const shown = truncate(cell, columns[place]?.width ?? 0);
        return shown + ' '.repeat((columns[place]?.width ?? 0) - stringWidth(shown) + gap);
      })
      .join('')
      .trimEnd();
  return {
    head: line(columns.map(({ head }) => head)),
    lines: items.map((_, row) => line(columns.map(({ cells }) => cells[row] ?? ''))),
  };
}
