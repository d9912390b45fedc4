import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { claimInstance, instanceHolder } from './instance.ts';
import { repositoryRoot } from './repository.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-instance-'));
});
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map(end));
  await rm(folder, { recursive: true });
});

/** Starts another process, which works on the folder until it is ended. */
async function startAnother(): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      '--input-type=module-typescript',
      '--eval',
      `import { claimInstance } from './tools/dev/instance.ts';
        claimInstance(${JSON.stringify(folder)});
        process.stdout.write('claimed');
        // Collects everything without a reference, such as a claim that was not kept.
        setInterval(() => { gc(); process.stdout.write('collected'); }, 100);`,
    ],
    { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('claimInstance', () => {
  it('lets one process work on a folder, whatever its command is, and names it to the others', async () => {
    const another = await startAnother();
    await once(another.stdout ?? another, 'data');
    expect(instanceHolder(folder)).toBe(another.pid);
    expect(() => claimInstance(folder)).toThrow(`Muster already runs here (process ${another.pid ?? ''})`);
    await end(another);
  });

  it('counts a process that was killed for none', async () => {
    await end(await startAnother());
    expect(instanceHolder(folder)).toBeUndefined();
    claimInstance(folder).release();
  });

  it('is held by the next one when what was released is released again', () => {
    const first = claimInstance(folder);
    first.release();
    const second = claimInstance(folder);
    first.release();
    expect(instanceHolder(folder)).toBe(process.pid);
    second.release();
    expect(instanceHolder(folder)).toBeUndefined();
  });
});
