import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { aptGet, canInstall, findProgram } from './apt.ts';

const run = promisify(execFile);

const POLICY = '/usr/sbin/policy-rc.d';

const ADVICE =
  'Redis is missing: install it (Debian, Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"), ' +
  'or set REDIS_URL to one that runs ("docker run -d -p 6379:6379 redis:8", REDIS_URL=redis://127.0.0.1:6379)';

/**
 * Returns the machine's Redis or Valkey. On Debian and Ubuntu, as root, it reports and installs a missing
 * one.
 */
export async function findRedisProgram(say: (line: string) => void): Promise<string> {
  const found = findOnPath();
  if (found !== undefined) return found;
  if (!canInstall()) throw new Error(ADVICE);
  say('Redis is missing on this machine: installing it with apt-get install redis-server');
  await installWithApt();
  const installed = findOnPath();
  if (installed === undefined) throw new Error(ADVICE);
  return installed;
}

const findOnPath = (): string | undefined => findProgram(['redis-server', 'valkey-server']);

/**
 * Installs the program without its service, because only a separate Redis with its data in `.data` is needed.
 */
async function installWithApt(): Promise<void> {
  const hadPolicy = existsSync(POLICY);
  // Uses Debian's policy file against starting services while packages are installed: 101 means "not
  // allowed".
  if (!hadPolicy) await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await aptGet(ADVICE, 'update', '-q');
    await aptGet(ADVICE, 'install', '-y', '-q', '--no-install-recommends', 'redis-server');
  } finally {
    if (!hadPolicy) await rm(POLICY, { force: true });
  }
  const systemd = await readFile('/proc/1/comm', 'utf8').catch(() => '');
  if (systemd.trim() === 'systemd')
    await run('systemctl', ['disable', 'redis-server']).catch(() => undefined);
}
