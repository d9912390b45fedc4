import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { cpuSecondsOf, timingsOf, timingTable } from './timings.ts';

it('reads the time of the children, whatever the decimal separator', () => {
  expect(cpuSecondsOf('0m0.01s 0m0.02s\n1m2.50s 0m3.25s\n')).toBe(65.75);
  expect(cpuSecondsOf('0m0,01s 0m0,02s\n0m2,50s 0m3,25s\n')).toBe(5.75);
});

it('shows tasks by processor time, with the total', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-timings-'));
  try {
    await writeFile(path.join(folder, '@muster-board.test'), '0m0.0s 0m0.0s\n0m4.0s 0m1.0s\n');
    const task = { status: 0, startTime: '2026-01-01T00:00:00.000Z', endTime: '2026-01-01T00:00:02.000Z' };
    const tasks = [
      { ...task, taskId: 'a:lint', projectName: 'a', target: 'lint' },
      { ...task, taskId: '@muster/board:test', projectName: '@muster/board', target: 'test' },
    ];
    const timings = timingsOf({ tasks }, folder, () => ({
      numPassedTests: 7,
      numFailedTests: 1,
      numRuntimeErrorTestSuites: 0,
    }));
    expect(timings).toEqual([
      { task: '@muster/board:test', cpuSeconds: 5, wallSeconds: 2, tests: 8 },
      { task: 'a:lint', cpuSeconds: 0, wallSeconds: 2, tests: 0 },
    ]);
    expect(timingTable(timings, 3, 6).split('\n').slice(1)).toEqual([
      expect.stringMatching(/^@muster\/board:test +5\.0 +2\.0 +8$/),
      expect.stringMatching(/^a:lint +0\.0 +2\.0 +0$/),
      expect.stringMatching(/^Nx and the shared servers +1\.0 +0$/),
      expect.stringMatching(/^total +6\.0 +3\.0 +8$/),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
