import { describe, expect, it } from '@jest/globals';
import { tally, type JestResults, type NxRun } from './tally.ts';

const task = (taskId: string, status = 0): NxRun['tasks'][number] => {
  const [projectName = '', target = ''] = taskId.split(':');
  return { taskId, projectName, target, status };
};
const results = (numPassedTests: number, numFailedTests = 0, numRuntimeErrorTestSuites = 0): JestResults => ({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
});
const twoPassed = (): JestResults => results(2);

describe('tally', () => {
  it('counts every Jest test, and every other task as one', () => {
    const tasks = [task('a:lint'), task('a:test'), task('b:test'), task('b:build')];
    expect(tally({ tasks }, 0, twoPassed)).toEqual({ passed: 6, failed: 0, complaints: [] });
  });

  it('counts no task that only has another start first', () => {
    const tasks = [task('a:test'), task('a:starts-first')];
    expect(tally({ tasks }, 0, twoPassed)).toMatchObject({ passed: 2, failed: 0 });
  });

  it('counts failed tests and failed tasks', () => {
    const tasks = [task('a:lint', 1), task('a:typecheck'), task('a:test', 1)];
    expect(tally({ tasks }, 1, () => results(3, 2))).toEqual({ passed: 4, failed: 3, complaints: [] });
  });

  it('counts a spec file that cannot be loaded as one failure', () => {
    expect(tally({ tasks: [task('a:test', 1)] }, 1, () => results(1, 0, 1))).toMatchObject({
      passed: 1,
      failed: 1,
    });
  });

  it('fails for tests whose results are missing, whatever their exit code', () => {
    const resultsOf = (name: string): JestResults | undefined => (name === 'a' ? results(1) : undefined);
    const { failed, complaints } = tally({ tasks: [task('a:test'), task('b:test')] }, 0, resultsOf);
    expect({ failed, complaints }).toEqual({ failed: 1, complaints: ['b:test left no results'] });
  });

  it('fails for a test run that failed although each test passed', () => {
    const { passed, failed, complaints } = tally({ tasks: [task('a:test', 1)] }, 1, twoPassed);
    expect({ passed, failed, complaints }).toEqual({
      passed: 2,
      failed: 1,
      complaints: ['a:test failed outside its tests'],
    });
  });

  it('fails when not one test ran', () => {
    const { failed, complaints } = tally({ tasks: [task('a:lint'), task('a:test')] }, 0, () => results(0));
    expect({ failed, complaints }).toEqual({ failed: 1, complaints: ['not one test ran'] });
  });

  it('fails when Nx fell over before it could say how it went', () => {
    expect(tally(undefined, 1, twoPassed).failed).toBeGreaterThan(0);
  });

  it('fails when Nx failed for a reason that no task shows', () => {
    const { failed, complaints } = tally({ tasks: [task('a:test')] }, 130, twoPassed);
    expect({ failed, complaints }).toEqual({ failed: 1, complaints: ['Nx ended with exit code 130'] });
  });
});
