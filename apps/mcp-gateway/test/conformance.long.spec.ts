// The protocol's official conformance suite, in each supported revision.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';
import { addToken, type TokenAdder } from './token-adder.ts';

const gateway = useGateway();
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const suite = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const expectedFailures = path.join(import.meta.dirname, 'conformance-expected-failures.yml');

let adder: TokenAdder;
let folder: string;
let token: string;

beforeAll(async () => {
  const { ana } = await gateway.world.org();
  ({ token } = ana.me);
  const api = gateway.apiClient(token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in', spec: '# Sign in' });
  await api.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
  // A scenario with an empty list would pass without testing anything.
  await api.prompts.org.upsert({
    ...{ slug: 'review', title: 'Review a story', body: 'Read {{storyKey}}.' },
    arguments: [{ name: 'storyKey', description: 'Such as WEB-42', required: true }],
  });
  adder = await addToken(gateway.url(), token);
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
        suite,
        ...['server', '--url', adder.url, '--suite', 'all', '--spec-version', version],
        ...['--expected-failures', expectedFailures, '--output-dir', folder],
      ],
      { cwd: workspaceRoot, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
      },
    );
  });

// The suite has only session tests for 2025-03-26, which are optional; protocol.spec.ts covers that revision.
it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  'passes in %s but for what the list of expected failures explains',
  async (version) => {
    const { code, output } = await runSuite(version);
    const summary = output.slice(output.indexOf('=== SUMMARY'));
    expect(summary).toMatch(/Total: [1-9]\d* passed/);
    // Compare the whole summary, so that the failure shows which scenario failed.
    if (code !== 0) expect(summary).toBe('without unexpected failures');
  },
);

/**
 * Returns true if a scenario in the suite's own program uses a fixture. The scenario's text runs from its
 * name to the next one; it may also use a constant.
 */
function asksFor(program: string, name: string, fixture: string): boolean {
  const [, after = ''] = program.split(`this.name=\`${name}\``);
  const scenario = after.split('this.name=`')[0] ?? '';
  const [, constant] = new RegExp(`const (\\w+)=\`${fixture}\``).exec(program) ?? [];
  return (
    scenario.includes(fixture) || (constant !== undefined && new RegExp(`\\b${constant}\\b`).test(scenario))
  );
}

it('expects failures of the suite’s own fixtures alone, and of what it does not declare', async () => {
  const lines = (await readFile(expectedFailures, 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('  - '));
  const entries = lines.map((line) => /^ {2}- (\S+) # (fixture|undeclared): (.+)$/.exec(line) ?? [line]);
  expect(entries.filter(([, name]) => name === undefined)).toEqual([]);
  const program = await readFile(path.join(workspaceRoot, suite), 'utf8');
  const fixtures = entries.filter(([, , kind]) => kind === 'fixture');
  for (const [, entry = '', , fixture = ''] of fixtures)
    expect([entry, asksFor(program, entry.split(':')[0] ?? '', fixture)]).toEqual([entry, true]);
  const undeclared = entries.flatMap(([, entry, kind]) => (kind === 'undeclared' ? (entry ?? []) : []));
  expect(undeclared).toEqual([
    'logging-set-level',
    'resources-subscribe',
    'resources-unsubscribe',
    'server-sse-multiple-streams:server-sse-multiple-streams-session',
    'http-custom-header-server-validation',
  ]);
});

it('declares nothing of what it leaves out', async () => {
  const about = { capabilities: {}, clientInfo: { name: 'spec', version: '1' } };
  const greeting = await gateway.rpc(token, 'initialize', { protocolVersion: '2025-11-25', ...about });
  const capabilities = greeting.body.result?.['capabilities'] as { resources: object; logging?: object };
  expect(capabilities.logging).toBeUndefined();
  expect(capabilities.resources).not.toHaveProperty('subscribe');
  expect(greeting.headers.get('mcp-session-id')).toBeNull();
  const { body } = await gateway.rpc(token, 'tools/list');
  expect(JSON.stringify(body.result)).not.toContain('x-mcp-header');
});
