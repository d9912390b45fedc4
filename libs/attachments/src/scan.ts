/** Scans files for viruses before they become visible, by a command or at an address that the operator names. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { type ReceivedFile } from './storage/storage.ts';

/** Returns true if the file is infected. Throws if the scanner is unavailable or cannot tell. */
export type FileScanner = (file: ReceivedFile) => Promise<boolean>;

/**
 * Runs the command with the path of the file as its last argument, and without the secrets in the environment. The
 * exit codes are those of clamscan.
 */
function createCommandScanner(command: string, timeoutMillis: number): FileScanner {
  const [program = '', ...options] = command.trim().split(/\s+/);
  const { PATH, HOME } = process.env;
  const limits = { env: { PATH, HOME }, timeout: timeoutMillis, killSignal: 'SIGKILL' } as const;
  return ({ path }) =>
    new Promise((resolve, reject) => {
      execFile(program, [...options, path], limits, (error) => {
        if (error === null) resolve(false);
        else if (error.code === 1) resolve(true);
        else reject(new Error('the virus scanner failed', { cause: error }));
      });
    });
}

const infectedStatuses: readonly number[] = [406, 422];

/** Sends the file to the address. 200 means that it is clean; 406 and 422 mean that it is infected. */
const createHttpScanner =
  (url: string, timeoutMillis: number): FileScanner =>
  async ({ path }) => {
    const response = await fetch(url, {
      method: 'POST',
      body: await openAsBlob(path),
      headers: { 'content-type': 'application/octet-stream' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMillis),
    });
    await response.body?.cancel();
    if (response.status === 200) return false;
    if (infectedStatuses.includes(response.status)) return true;
    throw new Error(`the virus scanner answered ${response.status}`);
  };

interface ScanConfig {
  readonly FILES_SCAN_COMMAND?: string | undefined;
  readonly FILES_SCAN_URL?: string | undefined;
}

/** Returns the configured scanner; undefined if files are not scanned. With both, a file must pass both. */
export function createFileScanner(config: ScanConfig, timeoutMillis = 60_000): FileScanner | undefined {
  const { FILES_SCAN_COMMAND: command, FILES_SCAN_URL: url } = config;
  const scanners = [
    ...(command === undefined ? [] : [createCommandScanner(command, timeoutMillis)]),
    ...(url === undefined ? [] : [createHttpScanner(url, timeoutMillis)]),
  ];
  if (scanners.length === 0) return undefined;
  return async (file) => {
    for (const isInfected of scanners) if (await isInfected(file)) return true;
    return false;
  };
}
