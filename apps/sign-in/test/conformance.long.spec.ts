/**
 * The protocol's official conformance suite for authorization servers. Where it needs a person, the spec
 * consents.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findFreePort } from '@muster/testing';
import { request } from 'undici';
import { useInstallation } from './installation.ts';
import { arrangeConsent, consentedAddress, register } from './oauth.ts';

const installation = useInstallation({ OAUTH_DYNAMIC_REGISTRATION: 'on' });
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-conformance-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

it.each(['2025-06-18', '2025-11-25', '2026-07-28'])('passes in %s', async (version) => {
  const { browser, form } = await arrangeConsent(installation);
  const port = await findFreePort();
  const back = `http://127.0.0.1:${port}/callback`;
  const clientId = await register(installation, { redirect_uris: [back] });
  const suite = spawn(
    process.execPath,
    [
      'node_modules/@modelcontextprotocol/conformance/dist/index.js',
      ...['authorization', '--url', installation.url(), '--client-id', clientId, '--port', String(port)],
      ...['--resource', `${installation.url()}/api/mcp`, '--spec-version', version, '--output-dir', folder],
    ],
    { cwd: workspaceRoot, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(suite, 'close');
  let output = '';
  suite.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const asked = new Promise<string | undefined>((resolve) => {
    suite.stdout.on('data', (text: Buffer) => {
      output += text.toString();
      const [, address] = /^(http\S+\/oauth\/authorize\?\S+)$/m.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    });
    suite.on('close', () => {
      resolve(undefined);
    });
  });
  const address = await asked;
  if (address === undefined) expect(output).toBe('a request that a person is to answer');
  const { pathname, search } = new URL(address ?? '');
  await (await request(await consentedAddress(browser, pathname + search, form))).body.text();
  const [code] = (await ended) as [number];
  // Compare the whole output, so that the failure shows which check failed.
  if (code !== 0) expect(output).toBe('without failures');
  expect(output).toMatch(/authorization-code-grant/);
});
