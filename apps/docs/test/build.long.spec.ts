import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtSiteFolder } from '../src/made-site.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'muster-docs-build-'));
});
afterAll(() => rm(scratch, { recursive: true }));

const sources = path.resolve(import.meta.dirname, '../src');

it('makes the site once for each state of the pages, and copies it into any folder', async () => {
  const make = (folder: string) =>
    promisify(execFile)(process.execPath, [path.join(sources, 'build.ts'), folder]);
  await make(builtSiteFolder);
  const before = await stat(builtSiteFolder);
  await make(path.join(scratch, 'some/folder'));
  expect((await stat(builtSiteFolder)).ino).toBe(before.ino);
  const filesOf = async (folder: string): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).toSorted();
  expect(await filesOf(path.join(scratch, 'some/folder'))).toEqual(await filesOf(builtSiteFolder));
  expect(await readFile(path.join(scratch, 'some/folder/made-from.txt'), 'utf8')).toMatch(/^[0-9a-f]{64}$/);
}, 240_000);

describe('a turn', () => {
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  /** Starts a process that runs `work` while it holds the lock, and logs when it takes and releases the lock. */
  const takeTurn = async (name: string, work: string): Promise<ChildProcess> => {
    const program = path.join(scratch, `${name}.mjs`);
    await writeFile(
      program,
      `import { appendFileSync } from 'node:fs';
import { withFileLock } from ${JSON.stringify(path.join(sources, 'turn.ts'))};
const note = (what) => appendFileSync(${JSON.stringify(path.join(scratch, 'notes'))}, what + ' ${name}\\n');
process.stdout.write('waits\\n');
await withFileLock(${JSON.stringify(path.join(scratch, 'turn'))}, async () => {
  note('takes');
  process.stdout.write('works\\n');
  ${work}
  note('ends');
});`,
    );
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };
  const says = async (child: ChildProcess, word: string): Promise<void> => {
    if (child.stdout === null) throw new Error('its output is not read');
    for await (const line of createInterface({ input: child.stdout })) if (line === word) return;
    throw new Error(`it ended without ${word}`);
  };

  it('of a holder that was killed is taken by one at a time of all that wait', async () => {
    await appendFile(path.join(scratch, 'notes'), '');
    const holder = await takeTurn('holder', 'await new Promise(() => setInterval(() => undefined, 1_000));');
    await says(holder, 'works');
    const names = Array.from({ length: 6 }, (_, at) => `waiter-${at}`);
    const waiters = await Promise.all(
      names.map((name) => takeTurn(name, 'await new Promise((resolve) => setTimeout(resolve, 20));')),
    );
    const ended = waiters.map((waiter) => once(waiter, 'exit'));
    await Promise.all(waiters.map((waiter) => says(waiter, 'waits')));
    expect(await readFile(path.join(scratch, 'notes'), 'utf8')).toBe('takes holder\n');
    holder.kill('SIGKILL');
    expect((await Promise.all(ended)).map(([code]) => code as number)).toEqual(names.map(() => 0));
    const [, ...notes] = (await readFile(path.join(scratch, 'notes'), 'utf8')).trim().split('\n');
    const takers = notes
      .filter((note) => note.startsWith('takes'))
      .map((note) => note.slice('takes '.length));
    expect(takers.toSorted()).toEqual(names);
    // No process takes the lock before the previous holder has released it.
    expect(notes).toEqual(takers.flatMap((name) => [`takes ${name}`, `ends ${name}`]));
  });
});
