/**
 * An esbuild plugin that builds a bundle without some guards. The caller of the build names the guards in
 * PROVE_WITHOUT.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Plugin } from 'esbuild';
import { repositoryRoot } from '@muster/tools';
import { findGuard, type GuardRemoval, takeOut } from './guards.ts';

const removals = JSON.parse(process.env['PROVE_WITHOUT'] ?? '[]') as readonly GuardRemoval[];
const byFile = Map.groupBy(removals, ({ guard }) => path.join(repositoryRoot, findGuard(guard).file));

const altering: Plugin = {
  name: 'without guards',
  setup(build) {
    const left = new Set(byFile.keys());
    build.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const here = byFile.get(file);
      if (here === undefined) return undefined;
      left.delete(file);
      let contents = await readFile(file, 'utf8');
      for (const removal of here) {
        const altered = takeOut(contents, removal, 'code');
        if (altered === undefined) throw new Error(`no guard is marked in code: ${removal.guard}`);
        contents = altered;
      }
      return { contents, loader: 'ts' };
    });
    build.onEnd(() => {
      if (left.size > 0) throw new Error(`the bundle has nothing of ${[...left].join(', ')}`);
    });
  },
};

export const plugins = [altering];
