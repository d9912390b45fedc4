import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type * as Apps from './apps.ts';

let folder: string;
let apps: typeof Apps;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-apps-'));
  // MUSTER_DATA is read only once, when the module is loaded.
  process.env['MUSTER_DATA'] = folder;
  apps = await import('./apps.ts');
  await apps.endAbandonedApps([]);
});
afterAll(async () => {
  delete process.env['MUSTER_DATA'];
  await rm(folder, { recursive: true });
});

/** Returns an app that runs this program, at a port on which nothing listens. */
async function appOf(program: string, isNeeded: boolean) {
  const main = path.join(folder, `${isNeeded ? 'needed' : 'late'}.mjs`);
  await writeFile(main, program);
  const app = { name: 'docs', port: 1, url: 'http://127.0.0.1:1', main, isNeeded } as const;
  return { name: app.name, main, apps: [app] };
}

const neverReady = 'setInterval(() => {}, 1000);';
const fails = 'console.log("no pages could be made"); process.exit(3);';

it('is held up by neither the docs nor the console, on which nothing rests', () => {
  const late = apps.findApps({}).filter(({ isNeeded }) => !isNeeded);
  expect(late.map(({ name }) => name).sort()).toEqual(['console', 'docs']);
});

it('gives each its own address: links of the license service lead to it', () => {
  const told = { BASE_URL: 'http://127.0.0.1:4000', LICENSE_URL: 'http://127.0.0.1:4002' };
  const addresses = new Map(
    apps.findApps({}).map((app) => [app.name, apps.environmentOf(app, told)['BASE_URL']]),
  );
  expect(addresses.get('license-service')).toBe(told.LICENSE_URL);
  expect(addresses.get('coordination-api')).toBe(told.BASE_URL);
});

it('goes on while such an app is not ready yet', async () => {
  const said: string[] = [];
  const kept = await apps.startProgram(await appOf(neverReady, false), process.env, (line) =>
    said.push(line),
  );
  expect(kept.current().isAlive()).toBe(true);
  await kept.stop();
  expect(said).toEqual([]);
});

it('goes on where such an app fails, and says where its log is', async () => {
  let heard: (line: string) => void;
  const told = new Promise<string>((resolve) => (heard = resolve));
  const kept = await apps.startProgram(await appOf(fails, false), process.env, (line) => {
    if (line.includes('all else')) heard(line);
  });
  expect(await told).toMatch(/^docs ended before it was ready.*all else runs on, and its log is .*docs/);
  await kept.stop();
});

it('stops at an app that is needed, with the end of its log', async () => {
  const starting = apps.startProgram(await appOf(fails, true), process.env, () => undefined);
  await expect(starting).rejects.toThrow(/docs ended before it was ready[\s\S]*no pages could be made/);
});
