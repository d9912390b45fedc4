/**
 * Checks that the code of a release runs on the current schema. It runs the release's own test of every
 * operation on the newest migrations and functions.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { linkPackages } from '../../../jest/trial-workspace.ts';
import { git } from './last-release.ts';

const run = promisify(execFile);

const schemas = [
  'libs/migrations/migrations',
  'libs/migrations/functions',
  'apps/license-service/src/migrations',
];

export interface ReleaseTrial {
  /** The number of passed tests. One of the tests calls every operation. */
  readonly passed: number;
  readonly failed: number;
  /** The names of the operations that the release cannot perform on the current schema. */
  readonly broken: readonly string[];
  /** The number of operations that were tried; undefined if no failure message contains it. */
  readonly tried: number | undefined;
  /** The output of Jest. */
  readonly said: string;
}

/**
 * Calls every operation of the release `tag` with its example, on the migrations that are in the repository
 * now. It uses the currently installed packages. A release that needs its older packages cannot be tried this
 * way, and fails.
 */
export async function tryRelease(repository: string, tag: string): Promise<ReleaseTrial> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-release-')));
  try {
    // Postgres may run under its own account, and that account finds the server program through this folder.
    await chmod(folder, 0o755);
    await git(repository, 'archive', '--output', path.join(folder, 'release.tar'), tag);
    await run('tar', ['-xf', 'release.tar'], { cwd: folder });
    await linkPackages(folder);
    for (const schema of schemas) {
      await rm(path.join(folder, schema), { recursive: true });
      await cp(path.join(repository, schema), path.join(folder, schema), { recursive: true });
    }
    return await checkOperations(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function checkOperations(folder: string): Promise<ReleaseTrial> {
  const results = path.join(folder, 'results.json');
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(JEST_|NX_|NODE_OPTIONS$|TEST_)/.test(name),
  );
  const said = await run(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      ...['node_modules/jest/bin/jest.js', '-c', 'jest.config.js', '--rootDir', 'apps/coordination-api'],
      ...['--ci', '--runInBand'],
      ...['--json', `--outputFile=${results}`, '--testNamePattern=accepts its own example', 'loops.spec'],
    ],
    { cwd: folder, env: Object.fromEntries(inherited), maxBuffer: 64 * 1024 * 1024 },
  ).then(
    ({ stderr }) => stderr,
    (error: unknown) => String(error),
  );
  const {
    numPassedTests: passed,
    numFailedTests: failed,
    testResults,
  } = Results.parse(JSON.parse(await readFile(results, 'utf8').catch(() => '{}')));
  const messages = testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ failureMessages }) => failureMessages),
  );
  return { passed, failed, ...brokenIn(messages.join('\n')), said };
}

const Results = z.object({
  numPassedTests: z.int().default(0),
  numFailedTests: z.int().default(0),
  testResults: z
    .array(z.object({ assertionResults: z.array(z.object({ failureMessages: z.array(z.string()) })) }))
    .default([]),
});

/** Reads the failed cases from a message of `checkEachCase`: a count, followed by one name per line. */
function brokenIn(message: string): Pick<ReleaseTrial, 'broken' | 'tried'> {
  const [, tried, names] = /\d+ of (\d+) cases break the law:\n((?: {2}\S+\n)+)/.exec(message) ?? [];
  return { tried: tried === undefined ? undefined : Number(tried), broken: names?.trim().split(/\s+/) ?? [] };
}
