import stringWidth from 'string-width';
import { sanitizeToOneLine } from './plain.ts';

const columnGap = '  ';

/**
 * Formats rows as columns that are as wide as their widest cell. Cells may contain texts of other people, so
 * each is made safe for a terminal.
 */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.'];
  const lines = [head, ...rows].map((cells) => cells.map(sanitizeToOneLine));
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => stringWidth(cells[column] ?? ''))));
  const padded = (cell: string, column: number): string =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(cell)));
  return lines.map((cells) => cells.map(padded).join(columnGap).trimEnd());
}
