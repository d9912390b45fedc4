import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createDocsService } from '../src/app.ts';

let folder: string;
let base: string;
let stop: () => Promise<void>;
const faults: string[] = [];

beforeAll(async () => {
  const outer = await mkdtemp(path.join(tmpdir(), 'muster-docs-'));
  await writeFile(path.join(outer, 'secret.html'), 'not a page');
  folder = path.join(outer, 'site');
  const write = (line: string) => void faults.push(line);
  const service = createDocsService(folder, pino({ level: 'error' }, { write }));
  base = await service.app.listen({ host: '127.0.0.1', port: 0 });
  stop = async () => {
    await service.stop();
    await rm(outer, { recursive: true });
  };
});
afterAll(() => stop());

const get = async (address: string) => {
  const response = await fetch(`${base}${address}`);
  return [response.status, response.headers.get('cache-control'), await response.text()];
};

it('is ready once its pages are made', async () => {
  expect((await get('/readyz'))[0]).toBe(503);
  await mkdir(path.join(folder, 'reference'), { recursive: true });
  await mkdir(path.join(folder, 'assets'));
  for (const name of ['index', '404', 'reference/index', 'reference/teams.members'])
    await writeFile(path.join(folder, `${name}.html`), name);
  await writeFile(path.join(folder, 'assets/app.x1.js'), 'app');
  const isReady = async () => (await get('/readyz'))[0] === 200;
  while (!(await isReady())) await pause(5);
});

it('serves a page without its ending, and keeps what has a name of its own for good', async () => {
  const page = 'public, max-age=300';
  expect(await get('/')).toEqual([200, page, 'index']);
  expect(await get('/reference')).toEqual([200, page, 'reference/index']);
  expect(await get('/reference/')).toEqual([200, page, 'reference/index']);
  expect(await get('/reference/teams.members?from=search')).toEqual([200, page, 'reference/teams.members']);
  expect(await get('/assets/app.x1.js')).toEqual([200, 'public, max-age=31536000, immutable', 'app']);
});

it('has a page for what is not there, and nothing outside its folder', async () => {
  for (const address of ['/nope', '/..%2fsecret', '/%2e%2e/secret', '/..%5csecret', '/%00', '/reference/x/y'])
    expect([address, ...(await get(address)).filter((_, at) => at !== 1)]).toEqual([address, 404, '404']);
  expect((await get('/%E0%A4%A'))[0]).toBe(400);
});

it('takes no address for a fault, however odd or long it is', async () => {
  for (const address of ['//', '//[', `/${'a'.repeat(300)}`, `/reference/${'a/'.repeat(3_000)}`])
    expect([address, (await get(address))[0]]).toEqual([address, 404]);
  expect(faults).toEqual([]);
});
