// node tools/build/build-action.ts <folder>
// Builds the GitHub Action as workflows use it: the file that GitHub starts, and the packed command line next
// to it.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: build-action.ts <folder>');
const target = path.resolve(folder);

await promisify(execFile)(
  process.execPath,
  [path.join(import.meta.dirname, 'build-app.ts'), 'apps/cli', target],
  { cwd: workspaceRoot },
);
for (const name of ['action.yml', 'action.js'])
  await cp(path.join(workspaceRoot, 'apps/cli/ci', name), path.join(target, name));
await cp(path.join(workspaceRoot, 'LICENSE'), path.join(target, 'LICENSE'));
