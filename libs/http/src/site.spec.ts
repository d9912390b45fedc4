import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { type Service } from './service.ts';
import { createSite, findSiteFolder } from './site.ts';

let outerFolder: string;
let folder: string;
let service: Service;
const faults: string[] = [];

beforeAll(async () => {
  outerFolder = await mkdtemp(path.join(tmpdir(), 'muster-site-'));
  folder = path.join(outerFolder, 'pages');
  service = createSite({
    ...{ name: 'pages', folder },
    logger: pino({ level: 'error' }, { write: (line) => void faults.push(line) }),
    routes: (app) => {
      app.get('/*', (_request, reply) => reply.sendFile('index.html'));
    },
  });
});
afterAll(async () => {
  await service.stop();
  await rm(outerFolder, { recursive: true });
});

const get = async (url: string) => {
  const { statusCode, headers, body } = await service.app.inject({ url });
  return { status: statusCode, headers, body };
};

describe('a site whose pages are not made yet', () => {
  it('lives, is not ready, and answers each address by a page that says so and loads again', async () => {
    expect((await get('/livez')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(503);
    for (const url of ['/', '/guides/events?from=mail', '/nope']) {
      const { status, headers, body } = await get(url);
      expect([url, status, headers.refresh]).toEqual([url, 503, headers['retry-after']]);
      expect(Number(headers.refresh)).toBeGreaterThan(0);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toContain('Muster is starting');
    }
    expect(faults).toEqual([]);
  });

  it('serves them from the moment that they are there', async () => {
    await mkdir(folder);
    await writeFile(path.join(folder, 'index.html'), 'a page');
    const { status, headers, body } = await get('/');
    expect([status, body, headers.refresh]).toEqual([200, 'a page', undefined]);
  });
});

it('takes the pages that it is told of, then those beside a bundle, and else makes them', async () => {
  const made = path.join(outerFolder, 'made');
  const at = { beside: outerFolder, made };
  expect(findSiteFolder(undefined, at)).toEqual({ folder: made, isBuiltLocally: true });
  expect(findSiteFolder(folder, at)).toEqual({ folder, isBuiltLocally: false });
  await mkdir(path.join(outerFolder, 'site'));
  expect(findSiteFolder(undefined, at)).toEqual({
    folder: path.join(outerFolder, 'site'),
    isBuiltLocally: false,
  });
  expect(findSiteFolder(folder, at)).toEqual({ folder, isBuiltLocally: false });
});
