/** Compares what a browser loads before the board appears with budgets.json. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { mkdtemp, rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { makeSite, type ConsoleSite } from '../src/build.ts';
import budgets from '../budgets.json' with { type: 'json' };

type Output = readonly [file: string, ConsoleSite['outputs'][string]];

let [outer, folder] = ['', ''];
let site: ConsoleSite;
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
  expect(await gzipped(site.initialFiles.scripts)).toBeLessThanOrEqual(budgets.firstScriptsGzipped);
  expect(await gzipped(site.initialFiles.styles)).toBeLessThanOrEqual(budgets.stylesGzipped);
  // The entry script and one chunk. Each further chunk is a further request before anything is shown.
  expect(site.initialFiles.scripts).toHaveLength(2);
});

const readsFiles = ([, { entryPoint }]: Output): boolean =>
  entryPoint === 'apps/console/web/imports/bring-in.tsx';

it('brings no part of a server, and the schemas of the contract to those alone who bring in a file', async () => {
  const outputs = Object.entries(site.outputs);
  const inputsOf = (some: readonly Output[]): string[] =>
    some.flatMap(([, { inputs }]) => Object.keys(inputs));
  const isServer =
    /node_modules\/(fastify|pg)\/|^libs\/(?!client|contract|registry|import-files|http\/src\/look\/)/;
  expect(inputsOf(outputs).filter((file) => isServer.test(file))).toEqual([]);
  const isSchema =
    /node_modules\/zod\/|^libs\/import-files\/(?!src\/(?:plan\/|source))|^libs\/(?:(?:[a-z]+-)?registry|contract\/src\/records)\//;
  const others = outputs.filter((output) => !readsFiles(output));
  expect(inputsOf(others).filter((file) => isSchema.test(file))).toEqual([]);
  const files = outputs.filter(readsFiles).map(([file]) => `assets/${path.basename(file)}`);
  expect(files).toHaveLength(1);
  expect(await gzipped(files)).toBeLessThanOrEqual(budgets.importScriptGzipped);
});

it('leaves no script and no style in the page itself', async () => {
  const html = await readFile(path.join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=/);
  expect(html).toContain('type="module" src="/console/assets/main-');
});
