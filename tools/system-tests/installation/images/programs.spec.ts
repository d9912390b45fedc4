/** Tests that a signal which ends `npm run images` also ends its child processes and their children. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { isRunning } from '@muster/tools';
import { createPrograms } from './programs.ts';

const programs = createPrograms(process.env, 200);

describe('programs that are ended', () => {
  it('end with what they started, also where that is deaf', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-programs-'));
    const noted = path.join(folder, 'pid');
    // The inner process ignores SIGTERM, and its parent exits before it.
    const inside = `trap "" TERM; echo $$ > ${noted}.new; mv ${noted}.new ${noted}; while :; do sleep 1; done`;
    const failure = programs.run('sh', ['-c', `sh -c '${inside}' & exec sleep 1000`]).then(
      () => 'it ended well',
      (error: unknown) => String(error),
    );
    while (!existsSync(noted)) await pause(10);
    await programs.endAll();
    expect(await failure).toContain('failed');
    const pid = Number(await readFile(noted, 'utf8'));
    expect([pid > 1, isRunning(pid)]).toEqual([true, false]);
    await rm(folder, { recursive: true });
  });

  it('are all gone once that is done, and a program can be run after', async () => {
    programs.start('sleep', ['1000']);
    await programs.endAll();
    await programs.endAll();
    await expect(programs.run('echo', ['well'])).resolves.toEqual({ stdout: 'well\n', stderr: '' });
  });
});

describe('a program that fails', () => {
  it('says its last lines', async () => {
    await expect(programs.run('sh', ['-c', 'echo before; echo why >&2; exit 3'])).rejects.toThrow(
      /^sh -c .* failed:\nbefore\n\nwhy$/,
    );
  });

  it('is named where it is not there', async () => {
    await expect(programs.run('no-such-program', [])).rejects.toThrow('no-such-program');
    await programs.endAll();
  });
});
