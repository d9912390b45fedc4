/**
 * Identifies this machine. The operating system's own id never leaves it.
 * The client sends an HMAC of the product's name with that id as key, which differs for each product.
 */
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from './system-error.ts';

const commandTimeoutMillis = 10_000;

const runProgram = (program: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { timeout: commandTimeoutMillis, windowsHide: true }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error('the id of this machine cannot be read', { cause: error }));
    });
  });

/** Reads the id from the output of `ioreg` on macOS. */
export const parseIoregId = (output: string): string | undefined =>
  /"IOPlatformUUID"\s*=\s*"([0-9a-f-]{36})"/i.exec(output)?.[1]?.toLowerCase();

/** Reads the id from the output of `reg query` on Windows. */
export const parseRegistryId = (output: string): string | undefined =>
  /\bMachineGuid\s+REG_SZ\s+\{?([0-9a-f-]{36})\}?/i.exec(output)?.[1]?.toLowerCase();

/**
 * Reads the id from /etc/machine-id. The file is empty in container images, and it is `uninitialized` until
 * the first start has finished.
 */
export const parseMachineIdFile = (content: string): string | undefined =>
  /^[0-9a-f]{32}\s*$/i.test(content) && !/^0+\s*$/.test(content) ? content.trim().toLowerCase() : undefined;

/** Throws if the id is missing. A machine that temporarily had another id would lose its license. */
function requireId(id: string | undefined): string {
  if (id === undefined) throw new Error('the operating system does not report a machine id');
  return id;
}

/** Returns the id that the operating system gives this machine; undefined if it has none. */
async function readSystemId(): Promise<string | undefined> {
  switch (process.platform) {
    case 'darwin':
      return requireId(
        parseIoregId(await runProgram('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'])),
      );
    case 'win32': {
      const reg = path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'reg.exe');
      // The option `/reg:64` reads the 64-bit registry. Without it a 32-bit Node would read another registry.
      const args = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64'];
      return requireId(parseRegistryId(await runProgram(reg, args)));
    }
    default:
      for (const file of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
        const id = parseMachineIdFile(await readFile(file, 'utf8').catch(() => ''));
        if (id !== undefined) return id;
      }
      return undefined;
  }
}

/** Returns a random id, which is created once. */
export async function readOrCreateFolderId(folder: string): Promise<string> {
  const file = path.join(folder, 'machine-id');
  const known = parseMachineIdFile(await readFile(file, 'utf8').catch(() => ''));
  if (known !== undefined) return known;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const made = randomBytes(16).toString('hex');
  const draft = `${file}.${made}`;
  await writeFile(draft, `${made}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // Another process may create the file at the same time. The first complete file counts.
    await link(draft, file).catch((error: unknown) => {
      if (!isSystemError(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return requireId(parseMachineIdFile(await readFile(file, 'utf8')));
}

interface MachineIdOptions {
  readonly product: string;
  readonly folder: string;
}

/**
 * Returns the id of this machine for one product. It comes from /etc/machine-id, on macOS from
 * IOPlatformUUID, and on Windows from MachineGuid.
 * A Linux system without one, such as a container, gets a random id that is stored in `folder`. The machine
 * stays the same as long as the folder is kept.
 */
export async function machineIdOf({ product, folder }: MachineIdOptions): Promise<string> {
  const own = (await readSystemId()) ?? (await readOrCreateFolderId(folder));
  return createHmac('sha256', own).update(`license-client:${product}`).digest('hex');
}
