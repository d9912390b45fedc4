// npm run flaky: finds specs that fail by chance. It runs each spec file that starts a program or waits 20
// times, while two processes keep processors busy. It prints how often each file failed. `-- --times 5
// apps/cli queues` runs only the files whose paths contain one of these texts, five times.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { servicesOf } from '../jest/services-of.ts';
import { bringUp } from '../jest/start-services.ts';
import stopServices from '../jest/stop-services.ts';
import { repositoryRoot } from './repository.ts';

/** Calls and helpers of specs that start programs and servers, or wait for a state. */
const startsOrWaits =
  /\b(spawn|spawnSync|execFile|execFileSync|fork|until|waitFor|listen|setTimeout|useHouse|Worker)\b|\b(start|open|run)[A-Z]\w*\(/;

interface JestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Returns the spec files to run, relative to the repository. */
export function chooseFiles(
  files: readonly string[],
  patterns: readonly string[],
  isCandidate: (file: string) => boolean,
): string[] {
  return files.filter(
    (file) =>
      file.endsWith('.spec.ts') &&
      (patterns.length === 0 || patterns.some((pattern) => file.includes(pattern))) &&
      isCandidate(file),
  );
}

/** Returns the folder that Jest takes as its root: an app, a lib, or all tools. */
export const projectOf = (file: string): string =>
  file.startsWith('tools/') ? 'tools' : file.split('/').slice(0, 2).join('/');

/** Names each failed test, or the first line of the error that kept the file from running. */
export function failuresOf({ testResults }: JestReport): string[] {
  return testResults.flatMap(({ message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length > 0) return failed.map(({ fullName }) => fullName);
    return assertionResults.length === 0 ? [message.trim().split('\n')[0] ?? 'did not run'] : [];
  });
}

/** Runs one file once, and returns the names of its failures. */
function runOnce(file: string, report: string): string[] {
  rmSync(report, { force: true });
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  jest.push('node_modules/jest/bin/jest.js', '-c', 'jest.config.js', '--rootDir', projectOf(file), '--ci');
  jest.push('--json', `--outputFile=${report}`, '--runTestsByPath', file);
  const { status, stderr } = spawnSync(process.execPath, jest, { cwd: repositoryRoot, encoding: 'utf8' });
  try {
    const failures = failuresOf(JSON.parse(readFileSync(report, 'utf8')) as JestReport);
    return failures.length === 0 && status !== 0 ? [`Jest ended with ${status}`] : failures;
  } catch {
    return [stderr.trim().split('\n').at(-1) ?? 'Jest wrote no report'];
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { times: { type: 'string', default: '20' } },
  });
  const times = Number(values.times);
  if (!Number.isInteger(times) || times < 1) throw new Error('--times takes a whole number from 1');
  const listed = spawnSync('git', ['ls-files', '-z'], { cwd: repositoryRoot, encoding: 'utf8' }).stdout;
  const files = chooseFiles(listed.split('\0'), positionals, (file) =>
    startsOrWaits.test(readFileSync(path.join(repositoryRoot, file), 'utf8')),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'flaky-'));
  // A loop that stops by itself when this process is gone, even if it was killed.
  const loop = `const parent = process.ppid; setInterval(() => { const end = Date.now() + 500;
    while (Date.now() < end); if (process.ppid !== parent) process.exit(); }, 0);`;
  const load = Array.from({ length: 2 }, () => spawn(process.execPath, ['-e', loop]));
  let flaky = 0;
  try {
    for (const project of new Set(files.map(projectOf)))
      await bringUp(await servicesOf(repositoryRoot, path.join(repositoryRoot, project)));
    for (const file of files) {
      const failed = new Map<string, number>();
      for (let time = 0; time < times; time += 1)
        for (const name of runOnce(file, path.join(folder, 'report.json')))
          failed.set(name, (failed.get(name) ?? 0) + 1);
      console.log(`${failed.size === 0 ? 'steady' : 'FAILED'}  ${file}`);
      for (const [name, count] of failed) console.log(`        ${count} of ${times}: ${name}`);
      if (failed.size > 0) flaky += 1;
    }
  } finally {
    for (const child of load) child.kill();
    await stopServices();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${files.length} spec files, ${times} times each: ${flaky} failed at least once`);
  process.exitCode = flaky === 0 && files.length > 0 ? 0 : 1;
}

if (import.meta.main) await main();
