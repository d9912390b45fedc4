import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';

const unread = new URL('./unread.ts', import.meta.url).href;

it.each([
  ['ends with 0 once its reader is gone', `endWhenUnread(process.stdout);`, 0],
  ['would be a failure of its own without that', '', 1],
])('a program %s', async (_title, guard, code) => {
  const program = `import { endWhenUnread } from '${unread}'; ${guard}
    setInterval(() => process.stdout.write('line\\n'), 1);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([code, null]);
});
