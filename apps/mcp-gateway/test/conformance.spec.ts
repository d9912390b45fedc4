// The protocol's own conformance suite, in each revision that is spoken.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';
import { addToken, type TokenAdder } from './token-adder.ts';

const gateway = useGateway();
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const expectedFailures = path.join(import.meta.dirname, 'conformance-expected-failures.yml');

let adder: TokenAdder;
let folder: string;

beforeAll(async () => {
  const { ana } = await gateway.world.org();
  const api = gateway.direct(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in', spec: '# Sign in' });
  await api.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
  // An empty list passes by what it has not.
  await api.prompts.org.upsert({
    ...{ slug: 'review', title: 'Review a story', body: 'Read {{storyKey}}.' },
    arguments: [{ name: 'storyKey', description: 'Such as WEB-42', required: true }],
  });
  adder = await addToken(gateway.url(), ana.me.token);
  folder = await mkdtemp(path.join(tmpdir(), 'muster-conformance-'));
});
afterAll(async () => {
  await adder.close();
  await rm(folder, { recursive: true });
});

interface Run {
  readonly code: number;
  readonly output: string;
}

const runSuite = (version: string): Promise<Run> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [
        'node_modules/@modelcontextprotocol/conformance/dist/index.js',
        ...['server', '--url', adder.url, '--suite', 'all', '--spec-version', version],
        ...['--expected-failures', expectedFailures, '--output-dir', folder],
      ],
      { cwd: workspaceRoot, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
      },
    );
  });

// The suite has nothing of 2025-03-26 but sessions, which are optional; protocol.spec.ts speaks it.
it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  'passes in %s but for what the list of expected failures explains',
  async (version) => {
    const { code, output } = await runSuite(version);
    const summary = output.slice(output.indexOf('=== SUMMARY'));
    expect(summary).toMatch(/Total: [1-9]\d* passed/);
    // The whole summary, so that a failure says what failed.
    if (code !== 0) expect(summary).toBe('without unexpected failures');
  },
);

it('expects no more failures than it did, and says why of each', async () => {
  const lines = (await readFile(expectedFailures, 'utf8')).split('\n');
  const entries = lines.filter((line) => line.startsWith('  - '));
  expect(entries.length).toBeLessThanOrEqual(42);
  // Each group stands below its reason.
  expect(lines[lines.indexOf('server:') + 1]).toMatch(/^ {2}# /);
});
