/** What a browser loads before the board shows, held against budgets.json. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { mkdtemp, rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { makeSite, type Site } from '../src/build.ts';
import budgets from '../budgets.json' with { type: 'json' };

let [outer, folder] = ['', ''];
let site: Site;
beforeAll(async () => {
  outer = await mkdtemp(path.join(tmpdir(), 'muster-console-'));
  folder = path.join(outer, 'site');
  site = await makeSite(folder);
});
afterAll(() => rm(outer, { recursive: true }));

const gzipped = async (files: readonly string[]): Promise<number> => {
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(path.join(folder, file)), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

it('keeps the scripts and styles before the first paint within their budgets', async () => {
  expect(await gzipped(site.first.scripts)).toBeLessThanOrEqual(budgets.firstScriptsGzipped);
  expect(await gzipped(site.first.styles)).toBeLessThanOrEqual(budgets.stylesGzipped);
});

it('brings no part of a server, nor the schemas of the contract', () => {
  const inputs = Object.values(site.outputs).flatMap(({ inputs: all }) => Object.keys(all));
  expect(
    inputs.filter((file) => /node_modules\/(zod|fastify|pg)\/|^libs\/(?!client|registry)/.test(file)),
  ).toEqual([]);
  expect(inputs.filter((file) => /^libs\/registry\/src\/(namespaces|records)\//.test(file))).toEqual([]);
});

it('leaves no script and no style in the page itself', async () => {
  const html = await readFile(path.join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=/);
  expect(html).toContain('type="module" src="/console/assets/main-');
});
