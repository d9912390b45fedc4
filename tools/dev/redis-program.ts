import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const POLICY = '/usr/sbin/policy-rc.d';

const ADVICE =
  'Redis is missing: install it (Debian, Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"), ' +
  'or set REDIS_URL to one that runs ("docker run -d -p 6379:6379 redis:8", REDIS_URL=redis://127.0.0.1:6379)';

/** The machine's Redis or Valkey; on Debian and Ubuntu, where we are root and may, it is installed after saying so. */
export async function findRedisProgram(say: (line: string) => void): Promise<string> {
  const found = findOnPath();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(ADVICE);
  say('Redis is missing on this machine: installing it with apt-get install redis-server');
  await installWithApt();
  const installed = findOnPath();
  if (installed === undefined) throw new Error(ADVICE);
  return installed;
}

function findOnPath(): string | undefined {
  for (const program of ['redis-server', 'valkey-server']) {
    for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
      const candidate = path.join(folder, program);
      try {
        accessSync(candidate, constants.X_OK);
        return candidate;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

/** Installs the program without the service: only a Redis of ours, with its data in `.data`, is wanted. */
async function installWithApt(): Promise<void> {
  const hadPolicy = existsSync(POLICY);
  // Debian's own switch against starting services while packages are installed: 101 means "not allowed".
  if (!hadPolicy) await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await aptGet('update', '-q');
    await aptGet('install', '-y', '-q', '--no-install-recommends', 'redis-server');
  } finally {
    if (!hadPolicy) await rm(POLICY, { force: true });
  }
  const systemd = await readFile('/proc/1/comm', 'utf8').catch(() => '');
  if (systemd.trim() === 'systemd')
    await run('systemctl', ['disable', 'redis-server']).catch(() => undefined);
}

async function aptGet(...args: string[]): Promise<void> {
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
    `${ADVICE}. apt-get ${args[0] ?? ''} said:\n${said.trim().split('\n').slice(-6).join('\n')}`,
  );
}
