/** Starts Directus or PostGraphile as a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processIds } from './processor-time.ts';
import { poolSize, type Services } from './services.ts';

const run = promisify(execFile);

export const directusToken = 'bench-token';

const programs = {
  directus: { file: 'directus/cli.js', words: ['start'] },
  postgraphile: { file: 'postgraphile/dist/cli-run.js', words: [] },
} as const;

const startSeconds = 60;

const environmentOf = (port: number, databaseUrl: string): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env['PATH'], NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port) },
  DATABASE_URL: databaseUrl,
  ...{ DB_CLIENT: 'pg', DB_CONNECTION_STRING: databaseUrl, DB_POOL__MIN: '0', DB_POOL__MAX: poolSize },
  ...{ SECRET: 'bench-secret-of-at-least-32-characters', TELEMETRY: 'false', LOG_LEVEL: 'error' },
  ...{ ADMIN_EMAIL: 'ana@example.com', ADMIN_PASSWORD: 'bench-password', ADMIN_TOKEN: directusToken },
});

/** Returns a port that is unused at this moment, since the peers cannot report one that they choose. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until the server answers. Both peers listen only when they are ready. */
async function untilUp(url: string): Promise<void> {
  for (const end = performance.now() + startSeconds * 1_000; performance.now() < end;) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await pause(200);
  }
  throw new Error(`${url} does not answer`);
}

/** Directus records who changed what, as Muster does, only in collections that it knows. */
async function recordChanges(url: string): Promise<void> {
  for (const collection of ['projects', 'columns', 'stories', 'comments']) {
    const { ok, status } = await fetch(`${url}/collections/${collection}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${directusToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ meta: { accountability: 'all' } }),
    });
    if (!ok) throw new Error(`Directus answered ${status} for ${collection}`);
  }
}

/** Returns the address of the started server. */
export async function startPeer(
  services: Services,
  folder: string,
  name: keyof typeof programs,
  databaseUrl: string,
): Promise<string> {
  const { file, words } = programs[name];
  const port = await freePort();
  const options = { cwd: folder, env: environmentOf(port, databaseUrl) };
  const main = path.join(folder, 'node_modules', file);
  if (name === 'directus') await run(process.execPath, [main, 'bootstrap'], options);
  const child = spawn(process.execPath, [main, ...words], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  services.onStop(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill()) await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await untilUp(url);
  if (name === 'directus') await recordChanges(url);
  if (child.pid !== undefined) processIds.set(url, child.pid);
  return url;
}
