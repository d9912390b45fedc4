/** Builds the documentation site, unless it was already built from the current sources. */
import { createHash } from 'node:crypto';
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { precompress } from '@muster/http/precompress';
import { build } from 'vitepress';
import { builtSiteFolder } from './made-site.ts';
import { withFileLock } from './turn.ts';
import { writeReference } from './vitepress/reference.ts';

const docsRoot = path.resolve(import.meta.dirname, '..');
const repositoryRoot = path.resolve(docsRoot, '../..');

/** All sources of pages. */
const sourcePatterns = [
  'docs/**/*.{md,svg,png}',
  'apps/docs/{.vitepress,src}/**/*.{ts,js,css,vue,svg}',
  'libs/{*registry,reference}/src/**/*.ts',
  'package-lock.json',
];

async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const pattern of sourcePatterns) {
    const files = (await Array.fromAsync(glob(pattern, { cwd: repositoryRoot }))).toSorted();
    for (const file of files) hash.update(file).update(await readFile(path.join(repositoryRoot, file)));
  }
  return hash.digest('hex');
}

/**
 * The lock file of builds. VitePress renders from one folder of the project, so builds of one clone run one
 * after the other.
 */
const buildLockFile = path.join(repositoryRoot, 'dist/docs-build.turn');

/**
 * Replaces the whole folder by the one that `make` fills. The server keeps serving the previous content while
 * `make` runs.
 */
async function replaceFolder(folder: string, fillFolder: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new-${process.pid}`;
  await mkdir(path.dirname(folder), { recursive: true });
  await fillFolder(fresh);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}

async function renderSite(sourceHash: string): Promise<void> {
  // Render from a folder next to the built site, because VitePress looks for packages in the parent folders
  // of the pages.
  const pages = `${builtSiteFolder}.pages`;
  await replaceFolder(builtSiteFolder, async (fresh) => {
    try {
      // A build that was killed may have left outdated pages.
      await rm(pages, { recursive: true, force: true });
      await cp(path.join(repositoryRoot, 'docs'), pages, { recursive: true });
      await writeReference(pages);
      // VitePress itself loads the configuration from its own folder.
      process.env['PAGES_FOLDER'] = pages;
      await build(docsRoot, { outDir: fresh });
    } finally {
      await rm(pages, { recursive: true, force: true });
    }
    await precompress(fresh);
    await writeFile(path.join(fresh, 'made-from.txt'), sourceHash);
  });
}

/** Fills the folder with the site. Renders the site first if a source has changed since the last build. */
async function fillWithSite(folder: string): Promise<void> {
  await withFileLock(buildLockFile, async () => {
    const wanted = await hashSources();
    const madeFrom = await readFile(path.join(builtSiteFolder, 'made-from.txt'), 'utf8').catch(() => '');
    if (madeFrom !== wanted) await renderSite(wanted);
    if (folder !== builtSiteFolder)
      await replaceFolder(folder, (fresh) => cp(builtSiteFolder, fresh, { recursive: true }));
  });
}

if (process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2);
  try {
    if (folder === undefined) throw new Error('usage: build.ts <folder>');
    await fillWithSite(path.resolve(folder));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
