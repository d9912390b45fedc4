// The shipped bundle, alone in an empty folder without the repository.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const gateway = useGateway();
let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-bundle-')));
  await run(process.execPath, ['tools/build/build-app.ts', 'apps/mcp-gateway', folder], {
    cwd: workspaceRoot,
  });
});
afterAll(() => rm(folder, { recursive: true }));

it('answers a client, and ends by itself when it is told to', async () => {
  const { ana } = await gateway.world.org();
  const server = spawn(process.execPath, ['main.js'], {
    cwd: folder,
    env: { COORDINATION_API_URL: gateway.apiUrl(), PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  try {
    let address = '';
    let metricsAddress = '';
    for await (const line of createInterface(server.stdout)) {
      const logged = JSON.parse(line) as { msg: string; address?: string; metricsAddress?: string };
      if (logged.msg !== 'listening') continue;
      address = logged.address ?? '';
      metricsAddress = logged.metricsAddress ?? '';
      break;
    }
    expect((await fetch(new URL('/readyz', address))).status).toBe(200);
    const answer = await fetch(new URL('/api/mcp', address), {
      method: 'POST',
      headers: { authorization: `Bearer ${ana.me.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'session_identity' },
      }),
    });
    expect(await answer.json()).toMatchObject({ result: { structuredContent: { member: { name: 'Ana' } } } });
    const metrics = await (await fetch(new URL('/metrics', metricsAddress))).text();
    expect(metrics).toContain('muster_operations_total{operation="session_identity",outcome="ok"');
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
