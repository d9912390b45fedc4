// Counts the results of a run of Nx: every Jest test counts as one, and so does every other task.

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
  /** Spec files that could not be run at all. Their tests are in no other number. */
  numRuntimeErrorTestSuites: number;
}

export interface TestCounts {
  passed: number;
  failed: number;
  /** Failures that are not reported by the failing task itself. */
  complaints: string[];
}

/**
 * Counts the tests and tasks of a run of Nx. `run` is undefined if Nx wrote no report, and `exitCode` is Nx's
 * own. `resultsOf` returns Jest's output for a project, or undefined if there is none.
 */
export function tally(
  run: NxRun | undefined,
  exitCode: number,
  resultsOf: (projectName: string, target: string) => JestResults | undefined,
): TestCounts {
  const total: TestCounts = { passed: 0, failed: 0, complaints: [] };
  const complain = (complaint: string): void => {
    total.failed += 1;
    total.complaints.push(complaint);
  };

  let tests = 0;
  for (const { taskId, target, projectName, status } of run?.tasks ?? []) {
    // The task does nothing. It exists because Nx begins with the tasks that others wait for.
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
