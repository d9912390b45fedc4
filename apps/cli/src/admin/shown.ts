/** The output of an operators' command. */
import { type ShownToken } from '@muster/organizations';
import { dayOf } from '@muster/terminal';

export interface AdminOutput {
  /** The output for scripts, printed with --json. */
  readonly json: unknown;
  /** The output for people. */
  readonly lines: readonly string[];
}

/** Prints the secret alone on a line, so that it is easy to copy. */
export function secretLines(what: string, { token: secret, id, expiresAt }: ShownToken): string[] {
  return [
    `${what}. Its id is ${id}; it expires on ${dayOf(expiresAt)}.`,
    'Copy it now; it will not be shown again:',
    secret,
  ];
}
