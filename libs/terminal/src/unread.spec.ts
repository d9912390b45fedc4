import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';

const moduleUrl = new URL('./unread.ts', import.meta.url).href;

it('a program goes on, with its own code, where what it says of its failures is read no more', async () => {
  const program = `import { continueWhenOutputCloses } from '${moduleUrl}'; continueWhenOutputCloses(process.stderr);
    const says = setInterval(() => process.stderr.write('line\\n'), 1);
    process.stdin.on('end', () => { clearInterval(says); process.exitCode = 2; }).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  await once(child.stderr, 'data');
  child.stderr.destroy();
  // The program writes every millisecond, so it writes to the closed stream during this pause.
  await pause(100);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([2, null]);
});

it.each([
  ['ends with 0 once its reader is gone', `exitWhenOutputCloses(process.stdout);`, 0],
  ['would be a failure of its own without that', '', 1],
])('a program %s', async (_title, guard, code) => {
  const program = `import { exitWhenOutputCloses } from '${moduleUrl}'; ${guard}
    setInterval(() => process.stdout.write('line\\n'), 1);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([code, null]);
});
