/** The output of an operators' command. */
import { type TokenWithSecret } from '@muster/organizations';
import { formatDay } from '@muster/terminal';

export interface AdminOutput {
  /** The output for scripts, printed with --json. */
  readonly json: unknown;
  /** The output for people. */
  readonly lines: readonly string[];
}

/** Prints the secret alone on a line, so that it is easy to copy. */
export function newTokenLines(summary: string, { token: secret, id, expiresAt }: TokenWithSecret): string[] {
  return [
    `${summary}. Its id is ${id}; it expires on ${formatDay(expiresAt)}.`,
    'Copy it now; it will not be shown again:',
    secret,
  ];
}
