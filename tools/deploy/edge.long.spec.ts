// Tests the shipped Caddyfile in a Caddy of this machine, in front of a service that restarts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createService, internalError, type Service } from '@muster/http';
import { findFreePort } from '@muster/testing/ports';
import { pino } from 'pino';
import { findCaddy, repositoryRoot } from '@muster/tools';
import { readText } from './compose.ts';

const program = findCaddy();
const tried = program === undefined ? describe.skip : describe;
const versionIn = (text: string): string => /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? '';
const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, 'en', { numeric: true }) >= 0;
/** Older versions cannot send a body a second time (caddyserver/caddy#7546). */
const leastForBodies = '2.11.2';
const replaysBodies =
  program !== undefined &&
  isAtLeast(versionIn(execFileSync(program, ['version'], { encoding: 'utf8' })), leastForBodies);
const logger = pino({ level: 'silent' });

it('is a Caddy that sends bodies again, and the guide says the least that does', async () => {
  // The tag of a minor version is that version's newest patch.
  const [, tag = ''] = /image: caddy:(\S+)/.exec(await readText('docker-compose.yml')) ?? [];
  expect(isAtLeast(`${versionIn(tag)}.99`, leastForBodies)).toBe(true);
  expect(await readText('docs/guides/upgrading.md')).toContain(`needs version ${leastForBodies} or newer`);
});

tried('the edge', () => {
  let folder: string;
  let caddy: ChildProcess;
  let edge: string;
  let port: number;
  let service: Service | undefined;
  let calls = 0;
  /** Resolves when the client that reads the last stream has disconnected. */
  let left: Promise<unknown> | undefined;

  async function start(): Promise<void> {
    service = createService({
      ...{ name: 'trial', logger, checks: [], maxInFlight: 100 },
      ...{ trustProxy: false, toApiError: internalError },
    });
    service.app.route({
      method: ['GET', 'POST'],
      url: '/api/count',
      handler: () => ({ count: (calls += 1), filler: 'x'.repeat(2_000) }),
    });
    service.app.get('/api/stream', (_request, reply) => {
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.raw.write('data: first\n\n');
      reply.hijack();
      left = once(reply.raw, 'close');
    });
    await service.app.listen({ host: '127.0.0.1', port });
  }
  const stop = async (): Promise<void> => {
    await service?.stop();
    service = undefined;
  };
  const count = (method: 'GET' | 'POST'): Promise<Response> =>
    fetch(`${edge}/api/count`, {
      method,
      ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
    });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-edge-'));
    port = await findFreePort();
    const shipped = await readFile(path.join(repositoryRoot, 'tools/deploy/Caddyfile'), 'utf8');
    const file = path.join(folder, 'Caddyfile');
    const here = shipped
      .replace(/^\{$/m, '{\n\tadmin off')
      .replace('coordination-api:4100', `127.0.0.1:${port}`);
    await writeFile(file, here);
    const sites = await Promise.all(
      ['API_SITE', 'DOCS_SITE', 'LICENSE_SITE'].map(async (name) => [
        name,
        `http://127.0.0.1:${await findFreePort()}`,
      ]),
    );
    const environment = Object.fromEntries(sites) as Record<string, string>;
    edge = environment['API_SITE'] ?? '';
    await start();
    caddy = spawn(program ?? '', ['run', '--config', file, '--adapter', 'caddyfile'], {
      env: { ...process.env, ...environment, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    caddy.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    while ((await fetch(`${edge}/api/nothing`).catch(() => undefined)) === undefined) {
      if (caddy.exitCode !== null) throw new Error(`Caddy ended: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  afterAll(async () => {
    caddy.kill();
    await stop();
    await rm(folder, { recursive: true });
  });

  const methods = replaysBodies ? (['GET', 'POST'] as const) : (['GET'] as const);

  it.each(methods)('lets %s wait while the only copy restarts, and sends each once', async (method) => {
    const before = calls;
    expect((await count(method)).status).toBe(200);
    await stop();
    const waiting = Array.from({ length: 20 }, () => count(method));
    // After half a second, the edge has failed to reach the service at least once for each of the waiting
    // calls.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await start();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(calls - before).toBe(21);
  });

  it('compresses answers, passes a stream on as it comes, and says when its reader leaves', async () => {
    expect((await count('GET')).headers.get('content-encoding')).toMatch(/gzip|zstd/);
    const leaving = new AbortController();
    const stream = await fetch(`${edge}/api/stream`, { signal: leaving.signal });
    expect(stream.headers.get('content-encoding')).toBeNull();
    const reader = (stream.body as ReadableStream<Uint8Array> | null)?.getReader();
    const { value: first } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(first)).toBe('data: first\n\n');
    leaving.abort();
    await left;
  });
});
