/** How a command ends: its exit code, and what it says of an error to people and to scripts. */
import { MusterError, NoAnswer } from '@muster/client';
import { type ErrorBody } from '@muster/registry';
import { plain } from '@muster/terminal';

/** What scripts may go by; README and --help say the same. */
export const exitCodes = {
  /** An operators' command that the database or its rules were against. */
  failed: 1,
  /** The command line cannot be understood, or something that it names is not there. */
  usage: 2,
  /** The API refused: any 4xx. */
  refused: 3,
  /** No answer, or one that says that the fault is not ours: any 5xx. */
  unreachable: 4,
} as const;

/** The command cannot be run as it was given or where it was. */
export class UsageError extends Error {}

/** The API refused part of what was asked; what exactly was said already. */
export class PartlyRefused extends Error {}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof PartlyRefused) return exitCodes.refused;
  if (error instanceof NoAnswer) return exitCodes.unreachable;
  if (error instanceof MusterError) return error.status < 500 ? exitCodes.refused : exitCodes.unreachable;
  return exitCodes.failed;
}

const hints: Readonly<Record<number, string>> = {
  401: 'Sign in with `muster login`, or give another token in MUSTER_TOKEN.',
  403: 'The token, or whose it is, may not do this; `muster whoami` says who that is.',
  404: 'There is none, or none that you may see; a list shows those that there are.',
  429: 'Wait a little, then try again.',
  503: 'Wait a little, then try again.',
};

function hintOf({ status, code, details }: ErrorBody): string | undefined {
  if (details?.reason === 'version_mismatch') return 'Read it again, and give the version that it has now.';
  if (details?.reason === 'idempotency_mismatch') return 'Give another --idempotency-key for another call.';
  if (code === 'bad_request') return '--help says what it takes.';
  if (details?.retryable === true) return 'The same call may succeed later.';
  return hints[status];
}

/** The error of the API in lines for people; `nameOf` says what a field is called where they typed it. */
export function linesOf(body: ErrorBody, nameOf: (path: string) => string): string[] {
  const { issues = [], reason, retryable: _, ...facts } = body.details ?? {};
  const hint = hintOf(body);
  return [
    `${body.message} (${reason ?? body.code}, ${body.status})`,
    ...issues.map(({ path, message }) => `  ${nameOf(path)}: ${message}`),
    ...Object.entries(facts).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
    ...(hint === undefined ? [] : [`  ${hint}`]),
    ...(body.status >= 500 ? [`  request ${body.requestId}`] : []),
  ].map(plain);
}

export interface Telling {
  /** For scripts: the error object as the API sent it, on one line. */
  readonly json: boolean;
  readonly nameOf?: (path: string) => string;
}

/** What goes to stderr about an error; undefined where it is a fault of ours that somebody has to look into. */
export function tell(error: unknown, { json, nameOf = (path) => path }: Telling): string | undefined {
  if (error instanceof MusterError) {
    if (json) return JSON.stringify(error.body);
    const [first = '', ...rest] = linesOf(error.body, nameOf);
    return [`muster: ${first}`, ...rest].join('\n');
  }
  if (error instanceof NoAnswer) {
    return json
      ? JSON.stringify({ code: 'no_answer', message: error.message, details: { retryable: true } })
      : `muster: ${error.message}`;
  }
  if (error instanceof PartlyRefused || error instanceof UsageError) {
    return json && error instanceof UsageError
      ? JSON.stringify({ code: 'usage', message: error.message })
      : `muster: ${error.message}`;
  }
  return undefined;
}

/** Says what went wrong on stderr, and with which code the process ends. A fault of ours is thrown on. */
export function report(error: unknown, telling: Telling): void {
  const told = tell(error, telling);
  if (told === undefined) throw error;
  process.stderr.write(`${told}\n`);
  process.exitCode = exitCodeOf(error);
}
