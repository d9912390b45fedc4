// node tools/build/build-app.ts <projectRoot> [outputFolder] [module whose `plugins` take part]
// Bundles an app into a folder that runs wherever Node is installed, without node_modules or other files of
// the repository.
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { repositoryOf } from './repository.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const [projectRoot, outputFolder, pluginsFrom] = process.argv.slice(2);
if (projectRoot === undefined) throw new Error('usage: build-app.ts <projectRoot> [outputFolder]');
const outdir = path.resolve(workspaceRoot, outputFolder ?? path.join('dist', projectRoot));

// The server, and the operators' command line if the app has one. Each becomes a self-contained file.
const entryPoints = ['main.ts', 'cli.ts']
  .map((name) => path.join(workspaceRoot, projectRoot, 'src', name))
  .filter((file) => existsSync(file));
if (!entryPoints[0]?.endsWith('main.ts')) throw new Error(`${projectRoot} has no src/main.ts`);

// Bundled CommonJS packages call `require` and read `__dirname`, which ES modules do not have. The names are
// declared with `var`, because bundled ES modules may declare the same names with the same values.
const commonJsNames = `
import { createRequire as createRequireForBundle } from 'node:module';
import { fileURLToPath as fileUrlToPathForBundle } from 'node:url';
const require = createRequireForBundle(import.meta.url);
var __filename = fileUrlToPathForBundle(import.meta.url);
var __dirname = import.meta.dirname;`;

const { plugins } =
  pluginsFrom === undefined ? { plugins: [] } : ((await import(pluginsFrom)) as { plugins: Plugin[] });

// Builds into a temporary folder, which then replaces the old bundle. A program that starts from the old
// bundle during the build finds all its files.
const making = `${outdir}.${process.pid}`;
process.once('exit', () => rmSync(making, { recursive: true, force: true }));
await mkdir(making, { recursive: true });

interface AppManifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node: string };
}
const manifest = JSON.parse(
  await readFile(path.join(workspaceRoot, projectRoot, 'package.json'), 'utf8'),
) as AppManifest;
// Images contain their own Node. An installed package uses the Node of the machine.
const target = `node${/\d+/.exec(manifest.engines?.node ?? '')?.[0] ?? '24'}`;

const { metafile } = await build({
  absWorkingDir: workspaceRoot,
  entryPoints,
  outdir: making,
  bundle: true,
  // A command runs briefly and needs few modules. Modules that only other commands need are in separate
  // files, which it does not load.
  splitting: manifest.bin !== undefined,
  platform: 'node',
  format: 'esm',
  target,
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  plugins,
  // The package's main file loads its parts by a `require` that bundlers cannot see.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  legalComments: 'linked',
  logLevel: 'warning',
  banner: { js: commonJsNames.trim() },
});
const { bin } = manifest;
/** An app with a command becomes a package that can be installed. */
const installed = bin && {
  ...{ name: manifest.name, version: manifest.version },
  ...{ description: manifest.description, license: 'Apache-2.0' },
  ...{ type: 'module', engines: manifest.engines, repository: repositoryOf(projectRoot) },
  bin: Object.fromEntries(Object.keys(bin).map((command) => [command, './main.js'])),
};
await writeFile(
  path.join(making, 'package.json'),
  `${JSON.stringify(installed ?? { private: true, type: 'module' }, null, 2)}\n`,
);
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
const copyFolder = (from: string, to: string): Promise<void> =>
  cp(path.join(workspaceRoot, from), path.join(making, to), { recursive: true });

// An app that has its own schema, or that bundles the migrator, needs the SQL files next to its bundle.
const ownMigrations = path.join(projectRoot, 'src/migrations');
if (existsSync(path.join(workspaceRoot, ownMigrations))) await copyFolder(ownMigrations, 'migrations');
else if (bundled.some((file) => file.startsWith('libs/migrations/'))) {
  for (const folder of ['migrations', 'functions'])
    await copyFolder(path.join('libs/migrations', folder), folder);
}

// Modules of pages read their styles and scripts from the folder of the same name.
for (const file of bundled.filter((one) => /\/src\/ui\.ts$|\/http\/src\/look\.ts$/.test(one)))
  await copyFolder(file.slice(0, -3), path.basename(file, '.ts'));

// Bull Board reads its pages from disk.
if (bundled.some((file) => file.startsWith('node_modules/@bull-board/api/')))
  await copyFolder('node_modules/@bull-board/ui/dist', 'bull-board-ui/dist');

for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
  if (file.endsWith('.js')) console.log(`${path.basename(file)}: ${Math.round(bytes / 1024)} KiB`);
}

await rm(outdir, { recursive: true, force: true });
await rename(making, outdir);

// An app that generates its pages ships the generated files.
const pagesBuilder = path.join(workspaceRoot, projectRoot, 'src/build.ts');
if (existsSync(pagesBuilder))
  await promisify(execFile)(process.execPath, [pagesBuilder, path.join(outdir, 'site')]);
