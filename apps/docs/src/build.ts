/** Makes the site, once for each state of what it is made from. */
import { createHash } from 'node:crypto';
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vitepress';
import { inTurn } from './turn.ts';
import { writeReference } from './vitepress/reference.ts';

const root = path.resolve(import.meta.dirname, '..');
const repository = path.resolve(root, '../..');

/** Everything that a page can come from. */
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

/** VitePress renders from one folder of the project, whichever the site goes to: builds of one clone take turns. */
const turn = path.join(repository, 'dist/docs-build.turn');

/** VitePress looks for packages above the pages, which are written beside the folder that the site goes to. */
function refuseOutside(folder: string): void {
  if (!folder.startsWith(repository + path.sep))
    throw new Error(
      `The site is made in a folder of the repository, such as dist/site: ${folder} is not in it`,
    );
}

/** Into the folder, unless it has what would be made; what is there serves until the new one is whole. */
export async function makeSite(folder: string): Promise<void> {
  refuseOutside(folder);
  const wanted = await fingerprint();
  const note = path.join(folder, 'made-from.txt');
  if ((await readFile(note, 'utf8').catch(() => '')) === wanted) return;
  const fresh = `${folder}.new-${process.pid}`;
  const pages = `${folder}.pages-${process.pid}`;
  await mkdir(path.dirname(folder), { recursive: true });
  try {
    await cp(path.join(repository, 'docs'), pages, { recursive: true });
    await writeReference(pages);
    // The configuration is read by VitePress itself, from its own folder.
    process.env['PAGES_FOLDER'] = pages;
    await inTurn(turn, () => build(root, { outDir: fresh }));
  } finally {
    await rm(pages, { recursive: true, force: true });
  }
  await writeFile(path.join(fresh, 'made-from.txt'), wanted);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
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
