/** Whether the code of a release runs on the schema of now: its own check of every operation, on the newest migrations and functions. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { linkPackages } from '../jest/trial-workspace.ts';
import { git } from './last-release.ts';

const run = promisify(execFile);

const schemas = [
  'libs/database/migrations',
  'libs/database/functions',
  'apps/license-service/src/migrations',
];

export interface Trial {
  readonly passed: number;
  readonly failed: number;
  /** What Jest said. */
  readonly said: string;
}

/**
 * Every operation with its example, as `tag` has it, on the migrations that lie in the repository now. It runs with the
 * packages of now; where those of then are needed, the release cannot be tried this way, and fails.
 */
export async function tryRelease(repository: string, tag: string): Promise<Trial> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-release-')));
  try {
    // Postgres may run under an account of its own, and its program is found through this folder.
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

async function checkOperations(folder: string): Promise<Trial> {
  const results = path.join(folder, 'results.json');
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(JEST_|NX_|NODE_OPTIONS$|TEST_)/.test(name),
  );
  const said = await run(
    process.execPath,
    [
      ...[
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
      ],
      ...['-c', 'jest.config.js', '--rootDir', 'apps/coordination-api', '--ci', '--runInBand'],
      ...['--json', `--outputFile=${results}`, '--testNamePattern=accepts its own example', 'loops.spec'],
    ],
    { cwd: folder, env: Object.fromEntries(inherited), maxBuffer: 64 * 1024 * 1024 },
  ).then(
    ({ stderr }) => stderr,
    (error: unknown) => String(error),
  );
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(
    await readFile(results, 'utf8').catch(() => '{"numPassedTests":0,"numFailedTests":0}'),
  ) as { numPassedTests: number; numFailedTests: number };
  return { passed, failed, said };
}
