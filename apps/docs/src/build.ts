/** Builds the documentation site, unless it was already built from the current sources. */
import { createHash } from 'node:crypto';
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { precompress } from '@muster/http/precompress';
import { build } from 'vitepress';
import { madeSite } from './made-site.ts';
import { inTurn } from './turn.ts';
import { writeReference } from './vitepress/reference.ts';

const root = path.resolve(import.meta.dirname, '..');
const repository = path.resolve(root, '../..');

/** All sources of pages. */
const sources = [
  'docs/**/*.{md,svg,png}',
  'apps/docs/{.vitepress,src}/**/*.{ts,js,css,vue,svg}',
  'libs/{registry,reference}/src/**/*.ts',
  'package-lock.json',
];

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const pattern of sources) {
    const files = (await Array.fromAsync(glob(pattern, { cwd: repository }))).toSorted();
    for (const file of files) hash.update(file).update(await readFile(path.join(repository, file)));
  }
  return hash.digest('hex');
}

/**
 * The lock file of builds. VitePress renders from one folder of the project, so builds of one clone run one
 * after the other.
 */
const turn = path.join(repository, 'dist/docs-build.turn');

/**
 * Replaces the whole folder by the one that `make` fills. The server keeps serving the previous content while
 * `make` runs.
 */
async function replace(folder: string, make: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new-${process.pid}`;
  await mkdir(path.dirname(folder), { recursive: true });
  await make(fresh);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}

async function render(wanted: string): Promise<void> {
  // Render from a folder next to the built site, because VitePress looks for packages in the parent folders
  // of the pages.
  const pages = `${madeSite}.pages`;
  await replace(madeSite, async (fresh) => {
    try {
      // A build that was killed may have left outdated pages.
      await rm(pages, { recursive: true, force: true });
      await cp(path.join(repository, 'docs'), pages, { recursive: true });
      await writeReference(pages);
      // VitePress itself loads the configuration from its own folder.
      process.env['PAGES_FOLDER'] = pages;
      await build(root, { outDir: fresh });
    } finally {
      await rm(pages, { recursive: true, force: true });
    }
    await precompress(fresh);
    await writeFile(path.join(fresh, 'made-from.txt'), wanted);
  });
}

/** Fills the folder with the site. Renders the site first if a source has changed since the last build. */
async function makeSite(folder: string): Promise<void> {
  await inTurn(turn, async () => {
    const wanted = await fingerprint();
    const madeFrom = await readFile(path.join(madeSite, 'made-from.txt'), 'utf8').catch(() => '');
    if (madeFrom !== wanted) await render(wanted);
    if (folder !== madeSite) await replace(folder, (fresh) => cp(madeSite, fresh, { recursive: true }));
  });
}

if (process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2);
  try {
    if (folder === undefined) throw new Error('usage: build.ts <folder>');
    await makeSite(path.resolve(folder));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
