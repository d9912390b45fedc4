import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Service } from '@muster/http';
import { precompress } from '@muster/http/precompress';
import { waitUntil } from '@muster/testing';
import { pino } from 'pino';
import { contentSecurityPolicy, createConsole } from '../src/app.ts';

let outer: string;
let service: Service;
beforeAll(async () => {
  outer = await mkdtemp(path.join(tmpdir(), 'muster-console-'));
  await writeFile(path.join(outer, 'secret-AAAAAAAA.js'), 'not of the console');
  service = createConsole(path.join(outer, 'site'), pino({ level: 'silent' }));
});
afterAll(async () => {
  await service.stop();
  await rm(outer, { recursive: true });
});

const get = async (url: string, acceptEncoding = 'identity') => {
  const { statusCode, headers, body, rawPayload } = await service.app.inject({
    ...{ url, headers: { 'accept-encoding': acceptEncoding } },
  });
  return { status: statusCode, headers, body, bytes: rawPayload };
};

const long = 'run();\n'.repeat(1_000);

it('is ready once its pages are made', async () => {
  expect((await get('/readyz')).status).toBe(503);
  await mkdir(path.join(outer, 'site/assets'), { recursive: true });
  await writeFile(path.join(outer, 'site/index.html'), '<title>Muster</title>');
  await writeFile(path.join(outer, 'site/assets/main-5XQ2MB3A.js'), 'run()');
  await writeFile(path.join(outer, 'site/assets/board-5XQ2MB3A.js'), long);
  await precompress(path.join(outer, 'site'));
  await waitUntil(async () => (await get('/readyz')).status === 200);
});

it('has one page for every address, which runs nothing but its own scripts', async () => {
  for (const url of [
    '/console/',
    '/console/p/WEB?q=a',
    '/console/s/WEB-1',
    '/console/%00',
    '/console/..%2fx',
  ]) {
    const { status, headers, body } = await get(url);
    expect([url, status, body]).toEqual([url, 200, '<title>Muster</title>']);
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-security-policy': contentSecurityPolicy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
  }
  expect(contentSecurityPolicy).toContain("require-trusted-types-for 'script'");
  expect(contentSecurityPolicy).not.toMatch(/unsafe|https?:|\*/);
});

it('leads to it from the address without a slash', async () => {
  const { status, headers } = await get('/console');
  expect([status, headers.location]).toEqual([308, '/console/']);
});

it('lets what is named after its content be kept for good', async () => {
  const { status, headers, body } = await get('/console/assets/main-5XQ2MB3A.js');
  expect([status, body]).toEqual([200, 'run()']);
  expect(headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': expect.stringContaining('javascript'),
  });
});

it('sends files as the build compressed them, in the encoding that the browser takes', async () => {
  const file = '/console/assets/board-5XQ2MB3A.js';
  const [brotli, zipped, plain] = [
    await get(file, 'gzip, deflate, br'),
    await get(file, 'gzip'),
    await get(file),
  ];
  expect([brotli, zipped, plain].map(({ headers }) => headers['content-encoding'])).toEqual([
    ...['br', 'gzip', undefined],
  ]);
  for (const { headers } of [brotli, zipped, plain])
    expect(headers).toMatchObject({
      vary: 'accept-encoding',
      'content-type': expect.stringContaining('javascript'),
      'cache-control': 'public, max-age=31536000, immutable',
    });
  expect(brotliDecompressSync(brotli.bytes).toString()).toBe(long);
  expect(gunzipSync(zipped.bytes).toString()).toBe(long);
  expect(plain.body).toBe(long);
  expect((await get(`${file}.br`)).status).toBe(404);
});

it('has no file that the build did not make, and nothing outside of its folder', async () => {
  for (const file of [
    'main-AAAAAAAA.js',
    '..%2f..%2fsecret-AAAAAAAA.js',
    '..%2findex.html',
    'main.js',
    '%00',
  ])
    expect([file, (await get(`/console/assets/${file}`)).status]).toEqual([file, 404]);
});
