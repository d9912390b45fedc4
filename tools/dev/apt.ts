/** Programs with packages in Debian and Ubuntu, which are installed if this process is root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the first of the given programs that is on the PATH. */
export function findProgram(names: readonly string[]): string | undefined {
  for (const program of names) {
    for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
      const candidate = path.join(folder, program);
      try {
        accessSync(candidate, constants.X_OK);
        return candidate;
      } catch {
        // The program is not in this folder.
      }
    }
  }
  return undefined;
}

export const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Returns the first of the given packages that apt knows, or the first name if apt knows none of them. */
export async function aptKnows(names: readonly [string, ...string[]]): Promise<string> {
  for (const name of names) {
    const child = spawn('apt-cache', ['show', name], { stdio: 'ignore' });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return name;
  }
  return names[0];
}

/** Runs apt-get. If it fails, throws an error with the given advice and the last lines of apt-get's output. */
export async function aptGet(advice: string, ...args: string[]): Promise<void> {
  const child = spawn('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return;
  throw new Error(
    `${advice}. apt-get ${args[0] ?? ''} said:\n${said.trim().split('\n').slice(-6).join('\n')}`,
  );
}
