/** The end of a command: its exit code, and its error message for people and scripts. */
import { MusterError, NoAnswer } from '@muster/client';
import { type ErrorBody, isReason, type ErrorReason, remedyFor } from '@muster/contract';
import { exitCodes, terminalSafeJson, sanitizeForTerminal, UsageError } from '@muster/terminal';

/** The error of a command whose call the API rejected in part. The details were printed already. */
export class PartialRefusalError extends Error {}

/** The error of a failed sign-in, with the reason as its message. */
export class SignInFailedError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof PartialRefusalError || error instanceof SignInFailedError) return exitCodes.refused;
  if (error instanceof NoAnswer) return exitCodes.unreachable;
  if (error instanceof MusterError) return error.status < 500 ? exitCodes.refused : exitCodes.unreachable;
  return exitCodes.failed;
}

/** Remedies that apply only to the command line. They replace the general remedy for an error. */
const commandLineHints: Readonly<Partial<Record<ErrorReason, string>>> = {
  invalid_params: 'Run the command with --help to see its parameters.',
  unauthorized: 'Sign in with `muster login`, or set another token in MUSTER_TOKEN.',
  scope: "`muster whoami` shows the token's member and scopes.",
  idempotency_mismatch: 'Use another --idempotency-key for another call.',
};

function hintOf({ code, details }: ErrorBody): string {
  const reason = details?.reason;
  return (isReason(reason) ? commandLineHints[reason] : undefined) ?? remedyFor(code, reason);
}

/**
 * Formats an API error in lines for people. `nameOf` translates a field into the name that the user typed.
 */
export function formatErrorLines(body: ErrorBody, fieldNameOf: (path: string) => string): string[] {
  const { issues = [], reason, retryable: _, ...facts } = body.details ?? {};
  return [
    `${body.message} (${reason ?? body.code}, ${body.status})`,
    ...issues.map(({ path, message }) => `  ${fieldNameOf(path)}: ${message}`),
    ...Object.entries(facts).map(([key, value]) => `  ${key}: ${terminalSafeJson(value)}`),
    `  ${hintOf(body)}`,
    ...(body.status >= 500 ? [`  request ${body.requestId}`] : []),
  ].map(sanitizeForTerminal);
}

export interface ReportOptions {
  /** True for scripts. The error object is then printed as the API sent it, on one line. */
  readonly json: boolean;
  readonly fieldNameOf?: (path: string) => string;
}

/** Returns the text for stderr. Returns undefined for a fault that a developer has to look into. */
export function formatError(
  error: unknown,
  { json, fieldNameOf = (path) => path }: ReportOptions,
): string | undefined {
  if (error instanceof MusterError) {
    if (json) return terminalSafeJson(error.body);
    const [first = '', ...rest] = formatErrorLines(error.body, fieldNameOf);
    return [`muster: ${first}`, ...rest].join('\n');
  }
  if (error instanceof NoAnswer)
    return json
      ? terminalSafeJson({ code: 'no_answer', message: error.message, details: { retryable: true } })
      : `muster: ${error.message}`;
  if (
    error instanceof PartialRefusalError ||
    error instanceof SignInFailedError ||
    error instanceof UsageError
  )
    return json && error instanceof UsageError
      ? terminalSafeJson({ code: 'usage', message: error.message })
      : `muster: ${error.message}`;
  return undefined;
}

/** Prints the error on stderr and sets the exit code. Rethrows an unexpected fault. */
export function reportError(error: unknown, options: ReportOptions): void {
  const told = formatError(error, options);
  if (told === undefined) throw error;
  process.stderr.write(`${told}\n`);
  process.exitCode = exitCodeOf(error);
}
