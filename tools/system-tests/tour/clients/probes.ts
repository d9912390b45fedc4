/**
 * Scripts that use each client as its users would: connect, list the tools, call one, and call one that is
 * refused. A probe runs in the folder of its packages, with URL and TOKEN in its environment, and prints its
 * result as one line of JSON.
 */
import { type packages } from './packages.ts';

export interface Probe {
  readonly name: string;
  readonly package: keyof typeof packages;
  /** The source of the probe, which Node runs. */
  readonly program: string;
}

const print = `const show = (seen) => console.log('SEEN ' + JSON.stringify(seen));
const { URL: place, TOKEN } = process.env;
const headers = { authorization: 'Bearer ' + TOKEN };
const missing = { storyId: 'NONE-1' };
const textOf = (value) => typeof value === 'string' ? value : JSON.stringify(value);
`;

const sdk = (imports: string, options: string): string => `${imports}${print}
const client = new Client({ name: 'clients', version: '1' }, ${options});
await client.connect(new StreamableHTTPClientTransport(new URL(place), { requestInit: { headers } }));
const { tools } = await client.listTools();
const called = await client.callTool({ name: 'session_identity', arguments: {} });
const refused = await client.callTool({ name: 'start_work', arguments: missing });
show({ tools: tools.length, called: textOf(called), refused: textOf(refused) });
await client.close();`;

const v1 = `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
`;
const v2 = `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
`;

/**
 * Returns the source of a probe for a client that is a command line. The probe runs it three times: to list
 * the tools, to call a tool, and to make a call that is refused.
 */
const commandLine = (bin: string, list: string, call: string, refuse: string): string => `${print}
import { spawnSync } from 'node:child_process';
const run = (args) => { const { stdout, stderr } = spawnSync(process.execPath, [${JSON.stringify(bin)}, ...args], { encoding: 'utf8' }); return stdout + stderr; };
const listed = run(${list});
const tools = new Set([...listed.matchAll(/"name": ?"(inbox|[a-zA-Z]+_[a-zA-Z_]+)"/g)].map(([, name]) => name));
if (tools.size === 0) { console.log(listed); process.exit(1); }
show({ tools: tools.size, called: run(${call}), refused: run(${refuse}) });`;

export const probes: readonly Probe[] = [
  { name: 'SDK v1', package: '@modelcontextprotocol/sdk', program: sdk(v1, '{}') },
  { name: 'SDK v2 with its defaults', package: '@modelcontextprotocol/client', program: sdk(v2, '{}') },
  {
    name: 'SDK v2, stateless',
    package: '@modelcontextprotocol/client',
    program: sdk(v2, `{ versionNegotiation: { mode: { pin: '2026-07-28' } } }`),
  },
  {
    name: 'Inspector, command line',
    package: '@modelcontextprotocol/inspector',
    program: commandLine(
      'node_modules/.bin/mcp-inspector',
      `['--cli', place, '--transport', 'http', '--header', 'Authorization: Bearer ' + TOKEN, '--method', 'tools/list']`,
      `['--cli', place, '--transport', 'http', '--header', 'Authorization: Bearer ' + TOKEN, '--method', 'tools/call', '--tool-name', 'session_identity']`,
      `['--cli', place, '--transport', 'http', '--header', 'Authorization: Bearer ' + TOKEN, '--method', 'tools/call', '--tool-name', 'start_work', '--tool-arg', 'storyId=NONE-1']`,
    ),
  },
  {
    name: 'mcporter',
    package: 'mcporter',
    program: commandLine(
      'node_modules/.bin/mcporter',
      `['list', '--http-url', place, '--allow-http', '--no-oauth', '--header', 'Authorization=Bearer ' + TOKEN, '--name', 'muster', '--schema', '--json']`,
      `['call', '--http-url', place, '--allow-http', '--no-oauth', '--header', 'Authorization=Bearer ' + TOKEN, '--name', 'muster', '--tool', 'session_identity', '--output', 'json']`,
      `['call', '--http-url', place, '--allow-http', '--no-oauth', '--header', 'Authorization=Bearer ' + TOKEN, '--name', 'muster', '--tool', 'start_work', '--args', JSON.stringify(missing), '--output', 'json']`,
    ),
  },
];
