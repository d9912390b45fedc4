/** What an operators' command shows. */
import { type ShownToken } from '@muster/people';

export interface Shown {
  /** For scripts, with --json. */
  readonly json: unknown;
  /** For people. */
  readonly lines: readonly string[];
}

/** The secret stands alone on its line, to be copied. */
export function secretLines(what: string, { token: secret, id, expiresAt }: ShownToken): string[] {
  return [
    `${what}. Its id is ${id}; it expires on ${dayOf(expiresAt)}.`,
    'Copy it now, it is not shown again:',
    secret,
  ];
}

export function dayOf(time: string | null): string {
  return time?.slice(0, 10) ?? '-';
}

/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.'];
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
