/** Scanners that answer something else than their interface says, and what a command can read. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFileScanner } from './scan.ts';

const folder = await mkdtemp(join(tmpdir(), 'muster-scan-'));
const file = { path: join(folder, 'received'), size: 1, sha256: '' };
beforeAll(() => writeFile(file.path, 'x'));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a scanner at an address', () => {
  const server = createServer(({ method, url }, response) => {
    if (method === 'POST' && url === '/moved') response.writeHead(302, { location: '/clean' }).end();
    else response.writeHead(url === '/accepted' ? 202 : 200).end();
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void server.close());
  const scan = (path: string) =>
    createFileScanner({
      FILES_SCAN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    })?.(file);

  it('says that a file is clean by the status 200 only, and not after a redirect', async () => {
    expect(await scan('/clean')).toBe(false);
    await expect(scan('/moved')).rejects.toThrow();
    await expect(scan('/accepted')).rejects.toThrow('answered 202');
  });
});

describe('a command that scans', () => {
  const scan = async (script: string, timeoutMillis?: number) => {
    const path = join(folder, 'scan.sh');
    await writeFile(path, script);
    return createFileScanner({ FILES_SCAN_COMMAND: `sh ${path}` }, timeoutMillis)?.(file);
  };

  it('does not get the secrets in the environment', async () => {
    process.env['SCAN_SPEC_SECRET'] = 'x';
    expect(await scan('test -z "$SCAN_SPEC_SECRET"')).toBe(false);
    delete process.env['SCAN_SPEC_SECRET'];
  });

  it('is killed at its time limit, also if it ignores SIGTERM', async () => {
    await expect(scan(`trap '' TERM; while :; do :; done`, 300)).rejects.toThrow('scanner failed');
  }, 5_000);
});
