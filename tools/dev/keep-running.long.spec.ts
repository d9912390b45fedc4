import { expect, it } from '@jest/globals';
import { keepRunning } from './keep-running.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

async function startNode(script: string): Promise<ServiceProcess> {
  const { service } = await startServiceProcess(process.execPath, ['-e', script], {
    cwd: '/',
    env: {},
    stdio: 'ignore',
    stopSignal: 'TERM',
    graceSeconds: 5,
  });
  return service;
}

const forEver = 'setInterval(() => {}, 1000)';

/** Collects lines, and resolves when the n-th line with a text has arrived. */
function listener(): {
  say: (line: string) => void;
  lines: string[];
  reached: (text: string, n: number) => Promise<void>;
} {
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    lines,
    say: (line) => {
      lines.push(line);
      for (const check of waiting) check();
    },
    reached: (text, n) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (lines.filter((line) => line.includes(text)).length >= n) resolve();
        };
        waiting.push(check);
        check();
      }),
  };
}

it('starts a process that died again, with pauses that double', async () => {
  const { say, lines, reached } = listener();
  const kept = await keepRunning('fragile', () => startNode('process.exit(3)'), say);
  await reached('is started again', 3);
  await kept.stop();
  expect(lines.slice(0, 6)).toEqual([
    'fragile ended (code 3)',
    'fragile is started again in 0.1 s',
    'fragile ended (code 3)',
    'fragile is started again in 0.2 s',
    'fragile ended (code 3)',
    'fragile is started again in 0.4 s',
  ]);
});

it('goes on when a start fails, and says why', async () => {
  const { say, lines, reached } = listener();
  let starts = 0;
  const kept = await keepRunning(
    'database',
    async () => {
      starts += 1;
      if (starts === 2) throw new Error('its disk is full');
      return startNode(starts === 1 ? 'process.exit(1)' : forEver);
    },
    say,
  );
  await reached('is started again in 0.2 s', 1);
  expect(lines).toContain('its disk is full');
  await kept.stop();
  expect(kept.current().isAlive()).toBe(false);
});

it('starts nothing again that was told to stop', async () => {
  const { say, lines } = listener();
  const kept = await keepRunning('calm', () => startNode(forEver), say);
  await kept.stop();
  expect(kept.current().isAlive()).toBe(false);
  expect(lines).toEqual([]);
});

it('fails when the first start fails', async () => {
  const { say } = listener();
  await expect(
    keepRunning('absent', () => Promise.reject(new Error('no such program')), say),
  ).rejects.toThrow('no such program');
});
