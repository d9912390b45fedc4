// node tools/build/build-lib.ts <projectRoot> [outputFolder]
// Builds a library as an installable package: JavaScript and types, without other files of the repository.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { format } from 'oxfmt';
import ts from 'typescript';
import { repositoryOf } from './repository.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const [projectRoot, outputFolder] = process.argv.slice(2);
if (projectRoot === undefined) throw new Error('usage: build-lib.ts <projectRoot> [outputFolder]');
const root = path.resolve(workspaceRoot, projectRoot);
const outdir = path.resolve(workspaceRoot, outputFolder ?? path.join('dist', projectRoot));

await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });

// One file that runs on any Node since version 18, and in browsers if the library uses no Node modules.
const { metafile } = await build({
  absWorkingDir: workspaceRoot,
  entryPoints: [path.join(root, 'src/index.ts')],
  outdir,
  bundle: true,
  platform: 'neutral',
  external: ['node:*'],
  format: 'esm',
  target: 'es2022',
  // The bundler drops imports that are only used as types.
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: false } },
  keepNames: true,
  metafile: true,
  logLevel: 'warning',
});
const foreign = Object.keys(metafile.inputs).filter((file) => file.includes('node_modules/'));
if (foreign.length > 0) throw new Error(`${projectRoot} would bring along ${foreign.join(', ')}`);

let usesContract = false;
const emitted = declarations();
const everything = [...emitted.values()].join('');
for (const [file, text] of emitted) {
  // Skips files that no exported type needs.
  const base = path.basename(file);
  if (base !== 'index.d.ts' && !everything.includes(`'./${base.replace('.d.ts', '.ts')}'`)) continue;
  const standing = text
    .replaceAll(/(?<=from ['"]\.\/[a-z-]+)\.ts(?=['"])/g, '.js')
    .replaceAll("'@muster/client-core'", "'./core/index.js'")
    .replaceAll(/'@muster\/(contract|registry)'/g, base === file ? "'./contract.js'" : "'../contract.js'");
  const [, name] = /(?:from |import\()['"](?!\.{1,2}\/|node:)([^'"]+)/.exec(standing) ?? [];
  if (name !== undefined) throw new Error(`${file} of ${projectRoot} has types of ${name}`);
  usesContract ||= standing.includes('/contract.js');
  await mkdir(path.dirname(path.join(outdir, file)), { recursive: true });
  await writeFile(path.join(outdir, file), standing);
}
if (usesContract) {
  const { contractTypes } = await import('./contract-types.ts');
  const { code } = await format('contract.d.ts', await contractTypes(), { printWidth: 110 });
  await writeFile(path.join(outdir, 'contract.d.ts'), code);
}

/**
 * Returns the type declarations of each source file. They are checked by tsconfig.build.json, which allows
 * only what the oldest supported Node has.
 */
function declarations(): Map<string, string> {
  const configFile = path.join(root, 'tsconfig.build.json');
  const { config } = ts.readConfigFile(configFile, (file) => ts.sys.readFile(file)) as { config: unknown };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(fileNames, { ...options, noEmit: false, declaration: true });
  const emitted = new Map<string, string>();
  for (const source of program.getSourceFiles().filter(({ fileName }) => fileNames.includes(fileName))) {
    const folder = source.fileName.startsWith(`${root}/`) ? '' : 'core';
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    if (problems.length > 0)
      throw new Error(
        ts.formatDiagnostics(problems, {
          getCanonicalFileName: (file) => file,
          getCurrentDirectory: () => workspaceRoot,
          getNewLine: () => '\n',
        }),
      );
    program.emit(
      source,
      (file, text) => emitted.set(path.join(folder, path.basename(file)), text),
      undefined,
      true,
    );
  }
  return emitted;
}

const { name, version, description, license } = JSON.parse(
  await readFile(path.join(root, 'package.json'), 'utf8'),
) as { name: string; version: string; description: string; license: string };
const manifest = {
  ...{ name, version, description, license, type: 'module', repository: repositoryOf(projectRoot) },
  exports: {
    '.': { types: './index.d.ts', default: './index.js' },
    ...(usesContract && { './contract': { types: './contract.d.ts' } }),
    './package.json': './package.json',
  },
  types: './index.d.ts',
  files: ['*.js', '**/*.d.ts', '*.md', 'NOTICE'],
  engines: { node: '>=18' },
  sideEffects: false,
};
await writeFile(path.join(outdir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const page of ['README.md', 'CHANGELOG.md']) {
  const file = path.join(root, page);
  if (existsSync(file)) await cp(file, path.join(outdir, page));
}
for (const page of ['LICENSE', 'NOTICE']) await cp(path.join(workspaceRoot, page), path.join(outdir, page));
