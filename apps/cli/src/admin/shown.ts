/** What an operators' command shows. */
import { type ShownToken } from '@muster/organizations';
import { dayOf } from '@muster/terminal';

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
