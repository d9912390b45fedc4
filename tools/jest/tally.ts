// What a run of Nx came to, in numbers: every Jest test is one, and every other task is one.

/** The part of Nx's `.nx/cache/run.json` that is read here. */
export interface NxRun {
  tasks: readonly {
    taskId: string;
    target: string;
    projectName: string;
    status: number;
    startTime?: string;
    endTime?: string;
  }[];
}

/** The part of Jest's `--json` output that is read here. */
export interface JestResults {
  numPassedTests: number;
  numFailedTests: number;
  /** Spec files that could not be run at all; their tests are in no other number. */
  numRuntimeErrorTestSuites: number;
}

export interface Tally {
  passed: number;
  failed: number;
  /** What counts as failed without having said so itself. */
  complaints: string[];
}

/**
 * `run` is undefined when Nx left no account of itself, `exitCode` is Nx's own, and `resultsOf` answers with what
 * Jest wrote for a project, or undefined if it wrote nothing.
 */
export function tally(
  run: NxRun | undefined,
  exitCode: number,
  resultsOf: (projectName: string, target: string) => JestResults | undefined,
): Tally {
  const total: Tally = { passed: 0, failed: 0, complaints: [] };
  const complain = (complaint: string): void => {
    total.failed += 1;
    total.complaints.push(complaint);
  };

  let tests = 0;
  for (const { taskId, target, projectName, status } of run?.tasks ?? []) {
    // It does nothing: Nx begins with the tasks that others wait for.
    if (target === 'starts-first') continue;
    const succeeded = status === 0;
    if (target !== 'test' && target !== 'long') {
      total[succeeded ? 'passed' : 'failed'] += 1;
      continue;
    }
    const results = resultsOf(projectName, target);
    if (results === undefined) {
      complain(`${taskId} left no results`);
      continue;
    }
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    tests += results.numPassedTests + failed;
    total.passed += results.numPassedTests;
    total.failed += failed;
    if (!succeeded && failed === 0) complain(`${taskId} failed outside its tests`);
  }

  if (run === undefined) complain('Nx left no account of its run');
  if (tests === 0) complain('not one test ran');
  if (exitCode !== 0 && total.failed === 0) complain(`Nx ended with exit code ${exitCode}`);
  return total;
}
