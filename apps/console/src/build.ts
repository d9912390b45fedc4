/** Builds the pages from apps/console/web. The names of scripts and styles change with their content. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { precompress } from '@muster/http/precompress';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';

const webFolder = path.resolve(import.meta.dirname, '../web');
const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** The result of a build: its files, and the sources of each. */
export interface ConsoleSite {
  readonly outputs: Metafile['outputs'];
  /** The files that a browser loads before anything is shown, as paths below the folder. */
  readonly initialFiles: { readonly scripts: readonly string[]; readonly styles: readonly string[] };
}

/**
 * Builds into the folder. The existing files are served until the new build is complete. `packageSubstitutes`
 * substitutes packages by name.
 */
export async function makeSite(
  outputFolder: string,
  packageSubstitutes: Readonly<Record<string, string>> = {},
): Promise<ConsoleSite> {
  const fresh = `${outputFolder}.new-${process.pid}`;
  await rm(fresh, { recursive: true, force: true });
  const options = {
    absWorkingDir: repositoryRoot,
    entryPoints: [path.join(webFolder, 'main.tsx'), path.join(webFolder, 'styles/index.css')],
    outdir: path.join(fresh, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // The browser parses the files of other trackers, so the bundle uses the browser version of csv-parse.
    alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync', ...packageSubstitutes },
    define: { 'process.env.NODE_ENV': '"production"' },
    tsconfig: path.join(webFolder, 'tsconfig.json'),
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions;
  const { metafile: separateChunks } = await build({
    ...options,
    minify: false,
    sourcemap: false,
    write: false,
  });
  const { metafile } = await build({ ...options, plugins: [joinInitialChunks(separateChunks)] });
  // Files that are imported dynamically are entry points too, so an output is found by the name of its source
  // file.
  const entry = (source: string): string => {
    const [found] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(source) === true) ??
      [];
    if (found === undefined) throw new Error(`the build has no entry ${source}`);
    return found;
  };
  const script = entry('web/main.tsx');
  const scripts = [...findStaticImports(metafile, script)];
  const styles = [entry('web/styles/index.css')];
  const address = (file: string): string => `/console/assets/${path.basename(file)}`;
  const html = (await readFile(path.join(webFolder, 'index.html'), 'utf8')).replace(
    '<!-- built -->',
    [
      ...styles.map((file) => `<link rel="stylesheet" href="${address(file)}" />`),
      ...scripts
        .filter((file) => file !== script)
        .map((file) => `<link rel="modulepreload" href="${address(file)}" />`),
      `<script type="module" src="${address(script)}"></script>`,
    ].join('\n    '),
  );
  await writeFile(path.join(fresh, 'index.html'), html);
  await precompress(fresh);
  await mkdir(path.dirname(outputFolder), { recursive: true });
  await rm(outputFolder, { recursive: true, force: true });
  await rename(fresh, outputFolder);
  const below = (file: string): string => `assets/${path.basename(file)}`;
  return {
    outputs: metafile.outputs,
    initialFiles: { scripts: scripts.map(below), styles: styles.map(below) },
  };
}

/**
 * esbuild puts modules into one chunk if the same entry points reach them. This plugin makes each script that is loaded
 * on demand import the first script, which is loaded already. All modules of the first script are then in one chunk,
 * which saves a request for each chunk.
 */
const joinInitialChunks = ({ outputs }: Metafile): Plugin => ({
  name: 'join-initial-chunks',
  setup: (bundler) => {
    const first = path.join(webFolder, 'main.tsx');
    const onDemand = new Set(
      Object.values(outputs).flatMap(({ entryPoint }) =>
        entryPoint === undefined ? [] : [path.resolve(repositoryRoot, entryPoint)],
      ),
    );
    onDemand.delete(first);
    bundler.onLoad({ filter: /\.[jt]sx?$/ }, async ({ path: file }) => {
      if (!onDemand.has(file)) return undefined;
      const contents = `${await readFile(file, 'utf8')}\nimport ${JSON.stringify(first)};`;
      return { contents, loader: 'default' };
    });
  },
});

/** Returns the script and everything that it imports statically, as opposed to on demand. */
function findStaticImports({ outputs }: Metafile, entryScript: string): Set<string> {
  const found = new Set([entryScript]);
  for (const file of found) {
    for (const { path: imported, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs) found.add(imported);
  }
  return found;
}

if (process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: build.ts <folder>');
  await makeSite(path.resolve(folder));
}
