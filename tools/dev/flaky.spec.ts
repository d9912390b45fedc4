import { expect, it } from '@jest/globals';
import { chooseFiles, failuresOf, projectOf } from './flaky.ts';

it('chooses spec files by any of the texts, of those that start or wait', () => {
  const files = ['apps/cli/src/work.spec.ts', 'apps/cli/src/work.ts', 'libs/board/src/ranks.spec.ts'];
  expect(chooseFiles(files, [], () => true)).toEqual([files[0], files[2]]);
  expect(chooseFiles(files, ['ranks', 'queues'], () => true)).toEqual([files[2]]);
  expect(chooseFiles(files, [], (file) => file.startsWith('apps/'))).toEqual([files[0]]);
});

it('runs a file from the folder of its project', () => {
  expect(projectOf('apps/cli/src/work.spec.ts')).toBe('apps/cli');
  expect(projectOf('tools/dev/lines.spec.ts')).toBe('tools');
});

it('names failed tests, and why a file did not run at all', () => {
  const passed = { status: 'passed', fullName: 'waits' };
  const failed = { status: 'failed', fullName: 'counts' };
  expect(failuresOf({ testResults: [{ message: 'red', assertionResults: [passed, failed] }] })).toEqual([
    'counts',
  ]);
  expect(failuresOf({ testResults: [{ message: 'No server\n at', assertionResults: [] }] })).toEqual([
    'No server',
  ]);
  expect(failuresOf({ testResults: [{ message: '', assertionResults: [passed] }] })).toEqual([]);
});
