import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runMuster } from './muster.ts';

let home: string;
let programs: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'muster-mcp-'));
  programs = path.join(home, 'programs');
  await mkdir(programs);
});
afterEach(() => rm(home, { recursive: true }));

const url = 'https://muster.invalid/api/mcp?mode=core';

/** Runs the command as a user with no clients except those of the spec. */
const mcp = (...args: string[]) =>
  runMuster(['mcp', ...args], {
    env: {
      ...{ HOME: home, XDG_CONFIG_HOME: path.join(home, '.config'), PATH: programs },
      MUSTER_BASE_URL: 'https://muster.invalid',
    },
  });
const install = (client: string, ...args: string[]) => mcp('install', client, '--auth', 'token', ...args);
const read = (file: string) => readFile(path.join(home, file), 'utf8');
const write = async (file: string, text: string) => {
  await mkdir(path.dirname(path.join(home, file)), { recursive: true });
  await writeFile(path.join(home, file), text);
};

it('is told what is wrong with an address that is none', async () => {
  const env = { HOME: home, XDG_CONFIG_HOME: home, PATH: programs, MUSTER_BASE_URL: 'muster.invalid' };
  for (const args of [
    ['mcp', 'install', 'cursor'],
    ['whoami', '--token', 'mst_x'],
  ])
    expect(await runMuster(args, { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('MUSTER_BASE_URL is not a valid address'),
    });
});

/** Installs a client's own command, which records its arguments. */
async function createFakeProgram(name: string, { fails = '' } = {}): Promise<() => Promise<string[]>> {
  const file = path.join(programs, name);
  const failing = fails === '' ? '' : `case "$2" in ${fails}) echo "no such server" >&2; exit 1;; esac\n`;
  await writeFile(file, `#!/bin/sh\nprintf '%s|' "$@" >> ${file}.told\necho >> ${file}.told\n${failing}`);
  await chmod(file, 0o755);
  return async () => (await readFile(`${file}.told`, 'utf8')).trim().split('\n');
}

describe('a file of a client', () => {
  it.each([
    [
      'cursor',
      '.cursor/mcp.json',
      { mcpServers: { muster: { url, headers: { Authorization: 'Bearer ${env:MUSTER_TOKEN}' } } } },
    ],
    [
      'claude',
      '.claude.json',
      { mcpServers: { muster: { type: 'http', url, headers: { Authorization: 'Bearer ${MUSTER_TOKEN}' } } } },
    ],
    [
      'gemini',
      '.gemini/settings.json',
      { mcpServers: { muster: { httpUrl: url, headers: { Authorization: 'Bearer ${MUSTER_TOKEN}' } } } },
    ],
    [
      'windsurf',
      '.codeium/windsurf/mcp_config.json',
      {
        mcpServers: { muster: { serverUrl: url, headers: { Authorization: 'Bearer ${env:MUSTER_TOKEN}' } } },
      },
    ],
    [
      'opencode',
      '.config/opencode/opencode.json',
      {
        mcp: {
          muster: {
            type: 'remote',
            url,
            enabled: true,
            headers: { Authorization: 'Bearer {env:MUSTER_TOKEN}' },
          },
        },
      },
    ],
    [
      'vscode',
      '.config/Code/User/mcp.json',
      {
        servers: {
          muster: { type: 'http', url, headers: { Authorization: 'Bearer ${input:muster-token}' } },
        },
        inputs: [{ id: 'muster-token', type: 'promptString', description: 'Muster token', password: true }],
      },
    ],
  ])('of %s gets the server, once, and loses it again', async (client, file, content) => {
    expect(await install(client)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('Added muster to'),
    });
    expect(JSON.parse(await read(file))).toEqual(content);
    expect((await install(client)).out).toContain('already');
    expect(await mcp('uninstall', client)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Removed muster from/),
    });
    await expect(read(file)).rejects.toThrow('ENOENT');
    expect((await mcp('uninstall', client)).out).toContain('was not in');
  });

  it('of Codex is TOML, of which all else stays as it was written', async () => {
    const before = '# mine\nmodel = "x" # the best\n\n[mcp_servers.other]\nurl = "y"\n';
    await write('.codex/config.toml', before);
    await install('codex');
    const table = `\n[mcp_servers.muster]\nurl = "${url}"\nbearer_token_env_var = "MUSTER_TOKEN"\n`;
    expect(await read('.codex/config.toml')).toBe(before + table);
    await install('codex', '--mode', 'full', '--token-variable', 'MINE');
    expect(await read('.codex/config.toml')).toBe(
      `${before}\n[mcp_servers.muster]\nurl = "https://muster.invalid/api/mcp"\nbearer_token_env_var = "MINE"\n`,
    );
    await mcp('uninstall', 'codex');
    expect(await read('.codex/config.toml')).toBe(before);
    // A file that defines its servers inline cannot be edited line by line, so the command does not change
    // it.
    await write('.codex/config.toml', 'mcp_servers = { muster = { url = "z" } }\n');
    expect(await mcp('uninstall', 'codex')).toMatchObject({
      code: 2,
      err: expect.stringContaining('by hand'),
    });
    expect(await read('.codex/config.toml')).toBe('mcp_servers = { muster = { url = "z" } }\n');
  });

  it('keeps comments, other servers, indentation, who may read it, and the link that it is', async () => {
    const before = `{
\t// what I use
\t"mcpServers": {
\t\t"other": { "command": "x" }, /* mine */
\t},
}
`;
    await write('dotfiles/mcp.json', before);
    await chmod(path.join(home, 'dotfiles/mcp.json'), 0o600);
    await mkdir(path.join(home, '.cursor'));
    await symlink('../dotfiles/mcp.json', path.join(home, '.cursor/mcp.json'));
    await install('cursor');
    const after = await read('dotfiles/mcp.json');
    const entry = JSON.stringify(
      { url, headers: { Authorization: 'Bearer ${env:MUSTER_TOKEN}' } },
      null,
      '\t',
    );
    const added = `,\n\t\t"muster": ${entry.replaceAll('\n', '\n\t\t')}`;
    expect(after).toBe(before.replace('"x" }', `"x" }${added}`));
    expect((await lstat(path.join(home, '.cursor/mcp.json'))).isSymbolicLink()).toBe(true);
    expect((await lstat(path.join(home, 'dotfiles/mcp.json'))).mode & 0o777).toBe(0o600);
    await mcp('uninstall', 'cursor');
    expect(await read('dotfiles/mcp.json')).toBe(before);
  });

  it('that is broken is left as it is', async () => {
    await write('.cursor/mcp.json', '{ "mcpServers": ');
    expect(await install('cursor')).toMatchObject({
      code: 2,
      err: expect.stringContaining('so it was not changed'),
    });
    expect(await read('.cursor/mcp.json')).toBe('{ "mcpServers": ');
  });
});

it('is shown, and nothing is changed, with --print', async () => {
  const told = await createFakeProgram('claude');
  const shown = await install('claude', '--print', '--project', 'web');
  expect(shown.out).toMatch(
    /^claude mcp add --transport http --scope user muster 'https:\/\/muster\.invalid\/api\/mcp\?mode=core&project=WEB' --header 'Authorization: Bearer \$\{MUSTER_TOKEN\}'\n\nor in /,
  );
  await expect(told()).rejects.toThrow('ENOENT');
  await expect(read('.claude.json')).rejects.toThrow('ENOENT');
});

it('is shown as a link, for clients that open one', async () => {
  const linkOf = async (client: string) =>
    /\nor open (\S+)\n$/.exec((await install(client, '--print')).out)?.[1] ?? '';
  const cursor = new URL(await linkOf('cursor'));
  expect([cursor.protocol, cursor.host, cursor.pathname]).toEqual([
    ...['cursor:', 'anysphere.cursor-deeplink', '/mcp/install'],
  ]);
  expect(cursor.searchParams.get('name')).toBe('muster');
  const config = Buffer.from(cursor.searchParams.get('config') ?? '', 'base64').toString();
  expect(JSON.parse(config)).toEqual({ url, headers: { Authorization: 'Bearer ${env:MUSTER_TOKEN}' } });
  const [start, told = ''] = (await linkOf('vscode')).split('?');
  expect(start).toBe('vscode:mcp/install');
  expect(JSON.parse(decodeURIComponent(told))).toMatchObject({
    ...{ name: 'muster', type: 'http', url, inputs: [{ id: 'muster-token', password: true }] },
    headers: { Authorization: 'Bearer ${input:muster-token}' },
  });
  expect(await linkOf('claude')).toBe('');
});

it('never writes a token, not even where it is given as the name of a variable', async () => {
  const refused = await install('cursor', '--token-variable', 'must_live_x.y');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('the token itself is not stored') });
});

it('of the repository is for those clients that read one there', async () => {
  expect(await install('windsurf', '--scope', 'project')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Windsurf has no configuration file in repositories'),
  });
  const shown = await install('vscode', '--scope', 'project', '--print');
  expect(shown.out).toMatch(/\/\.vscode\/mcp\.json:\n/);
});

describe("a client's own command", () => {
  it.each([
    [
      'claude',
      [
        'mcp|remove|--scope|user|muster|',
        `mcp|add|--transport|http|--scope|user|muster|${url}|--header|Authorization: Bearer \${MUSTER_TOKEN}|`,
      ],
    ],
    ['codex', ['mcp|remove|muster|', `mcp|add|muster|--url|${url}|--bearer-token-env-var|MUSTER_TOKEN|`]],
    [
      'gemini',
      [
        'mcp|remove|--scope|user|muster|',
        `mcp|add|--scope|user|--transport|http|--header|Authorization: Bearer \${MUSTER_TOKEN}|muster|${url}|`,
      ],
    ],
  ])('of %s is used where it is there, also where it knows no such server yet', async (client, words) => {
    const told = await createFakeProgram(client, { fails: 'remove' });
    expect(await install(client)).toMatchObject({
      code: 0,
      out: expect.stringContaining('with its own command'),
    });
    expect(await told()).toEqual(words);
  });

  it('that fails is quoted', async () => {
    await createFakeProgram('codex', { fails: 'add' });
    expect(await install('codex')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/failed: no such server\n$/),
    });
  });
});

describe('OAuth', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  /** Starts an installation whose metadata names the given resource. */
  async function installation(resourceOf: (origin: string) => string): Promise<string> {
    server = createServer((request, answer) => {
      const origin = `http://${request.headers.host ?? ''}`;
      const isThere = request.url === '/.well-known/oauth-protected-resource/api/mcp';
      answer.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ resource: resourceOf(origin), authorization_servers: [origin] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('is used where the installation says that it has it: the address alone is written', async () => {
    const address = await installation((origin) => `${origin}/api/mcp`);
    const { out } = await mcp('install', 'cursor', '--base-url', address);
    expect(out).toContain('Cursor signs in with OAuth at its first call.');
    expect(JSON.parse(await read('.cursor/mcp.json'))).toEqual({
      mcpServers: { muster: { url: `${address}/api/mcp?mode=core` } },
    });
  });

  it('is not used where the metadata is of another resource, or of none', async () => {
    const address = await installation(() => 'https://other.example.com/api/mcp');
    await mcp('install', 'cursor', '--base-url', address);
    expect(await read('.cursor/mcp.json')).toContain('${env:MUSTER_TOKEN}');
  });
});
