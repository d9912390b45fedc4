// node tools/build/pack.ts <folder> [project…]
// Packs the installable packages, or only the named ones, into tarballs as npm publishes them.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: pack.ts <folder> [project…]');
const target = path.resolve(folder);

const packages = [
  ['build-app.ts', 'apps/cli'],
  ['build-lib.ts', 'libs/client'],
  ['build-lib.ts', 'libs/license-client'],
] as const;

await mkdir(target, { recursive: true });
const built = await mkdtemp(path.join(tmpdir(), 'muster-pack-'));
try {
  for (const [builder, project] of packages) {
    if (wanted.length > 0 && !wanted.includes(project)) continue;
    const place = path.join(built, project);
    await run(process.execPath, [path.join(import.meta.dirname, builder), project, place], {
      cwd: workspaceRoot,
    });
    // A library's build copies its own license and README. An app's build does not, because images do not
    // need them.
    if (builder === 'build-app.ts') {
      await cp(path.join(workspaceRoot, 'LICENSE'), path.join(place, 'LICENSE'));
      await cp(path.join(workspaceRoot, project, 'PACKAGE.md'), path.join(place, 'README.md'));
    }
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', target], { cwd: place });
    console.log(stdout.trim());
  }
} finally {
  await rm(built, { recursive: true });
}
