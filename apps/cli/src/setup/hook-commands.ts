/** The shell commands with which clients run `muster hook`. */
import { type HookName, type HookOptions, hookWords } from '../hook/names.ts';
import { formatShellCommand } from '../mcp/install.ts';

/** Clients treat this exit code of a hook as a refusal. */
const refusalExitCode = 2;

const missingProgramText = 'The muster command is not installed, so the lock was not checked.';

const refusesWithoutProgram = (hook: HookName, { isStrict }: HookOptions): boolean =>
  isStrict && hook === 'before-edit';

/**
 * Builds the command for a POSIX shell. A repository's hooks also run for people who have not installed the
 * program; only a strict hook refuses their edits.
 */
export function posixHookCommand(hook: HookName, client: string, options: HookOptions): string {
  const otherwise = refusesWithoutProgram(hook, options)
    ? `{ echo '${missingProgramText}' >&2; exit ${refusalExitCode}; }`
    : 'exit 0';
  const command = formatShellCommand(['muster', ...hookWords(hook, client, options)]);
  return `command -v muster >/dev/null 2>&1 || ${otherwise}; ${command}`;
}

/** Builds the same command for PowerShell. */
export function powershellHookCommand(hook: HookName, client: string, options: HookOptions): string {
  const otherwise = refusesWithoutProgram(hook, options)
    ? ` else { [Console]::Error.WriteLine('${missingProgramText}'); exit ${refusalExitCode} }`
    : '';
  const words = hookWords(hook, client, options).map((word) =>
    /^[\w./:-]+$/.test(word) ? word : `'${word}'`,
  );
  return `if (Get-Command muster -ErrorAction SilentlyContinue) { muster ${words.join(' ')} }${otherwise}`;
}
