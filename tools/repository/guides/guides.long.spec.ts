/**
 * Tests that the commands in the guides work. Runs every block marked `run`, in order and page by page, and
 * compares the output with the block marked `shown`.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from '@muster/client';
import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { waitUntil } from '@muster/testing';
import { builtMainFile } from '@muster/testing/bundles';
import { findFreePort } from '@muster/testing/ports';
import { Webhook } from 'standardwebhooks';
import {
  type Postgres,
  type Redis,
  repositoryRoot,
  startPostgres,
  startRedis,
  startThrowAwayApi,
  startThrowAwayApp,
  type ThrowAwayApi,
  type ThrowAwayApp,
} from '@muster/tools';

const run = promisify(execFile);
const guides = path.join(repositoryRoot, 'docs/guides');
const pages = (await readdir(guides)).filter((file) => file.endsWith('.md')).toSorted();

interface Block {
  readonly language: string;
  readonly code: string;
}

const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(bash|ts) run\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));

let postgres: Postgres;
let api: ThrowAwayApi;
let gateway: ThrowAwayApp;
let licenses: ThrowAwayApp;
let redis: Redis;
let worker: ThrowAwayApp;
let scratch: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'muster-guides-'));
  [postgres, redis] = await Promise.all([startPostgres({ durable: false }), startRedis({ durable: false })]);
  await migrate(postgres.url);
  // Receivers of webhooks run on this machine.
  const webhooksTo = { WEBHOOK_NETWORKS: '127.0.0.0/8:*' };
  api = await startThrowAwayApi({ databaseUrl: postgres.url, log: 'warn', environment: webhooksTo });
  [gateway, licenses, worker] = await Promise.all([
    startThrowAwayApp('mcp-gateway', { log: 'warn', environment: { COORDINATION_API_URL: api.url } }),
    startThrowAwayApp('license-service', {
      log: 'warn',
      environment: { DATABASE_URL: postgres.url, ...webhooksTo },
    }),
    startThrowAwayApp('delivery-worker', {
      log: 'warn',
      environment: {
        ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url, BASE_URL: api.url },
        ...{ MAIL_FOLDER: path.join(scratch, 'mail'), ...webhooksTo },
      },
    }),
  ]);
  environment = {
    ...process.env,
    PATH: `${await makeNpm()}${path.delimiter}${process.env['PATH'] ?? ''}`,
    // The folder in which `mktemp` creates folders.
    TMPDIR: scratch,
    ...{ BASE_URL: api.url, MCP_URL: `${gateway.url}/api/mcp?mode=core` },
    ...(await makeTokens()),
    // The operators' command lines use this database.
    ...{ LICENSE_URL: licenses.url, DATABASE_URL: postgres.url },
  };
}, 120_000);

afterAll(async () => {
  await Promise.all([gateway.stop(), licenses.stop(), worker.stop()]);
  await redis.stop();
  await api.stop();
  await postgres.stop();
  await rm(scratch, { recursive: true, force: true });
});

/**
 * Creates a wrapper of `npm` and returns its folder. Each command line runs once as a reader would run it,
 * through npm and the sources. Later calls start its bundle, which takes a third of the time.
 */
async function makeNpm(): Promise<string> {
  const folder = path.join(scratch, 'programs');
  await mkdir(folder);
  const bundles = { license: ['license-service', 'cli.js'], muster: ['cli', 'main.js'] } as const;
  const shortcuts = Object.entries(bundles).flatMap(([command, [app, file]]) => {
    const main = builtMainFile(app);
    if (main === undefined) return [];
    return `    'run ${command} --')
      [ -e '${folder}/${command}.tried' ] && exec node '${path.join(path.dirname(main), file)}' "\${@:4}"
      touch '${folder}/${command}.tried' ;;`;
  });
  const script = `#!/bin/bash
    given=("$@")
    [ "$2" = -s ] && set -- "$1" "\${@:3}"
    case "$1 $2 $3" in
${shortcuts.join('\n')}
    esac
    PATH='${process.env['PATH'] ?? ''}' exec npm "\${given[@]}"\n`;
  await writeFile(path.join(folder, 'npm'), script, { mode: 0o755 });
  return folder;
}

/**
 * Creates the records of the demo with which the guides begin: a member, an agent of that member, an admin,
 * and the project WEB.
 */
async function makeTokens(): Promise<Readonly<Record<'TOKEN' | 'AGENT_TOKEN' | 'ADMIN_TOKEN', string>>> {
  const pool = createPool({ url: postgres.url, role: null, max: 1 });
  try {
    const [slug, email] = ['acme', 'chloe@acme.example'];
    const owner = { email: 'ana@acme.example', name: 'Ana' };
    await createOrganization(pool, { name: 'Acme', slug, plan: 'team', seats: 25, owner });
    await addMember(pool, { org: slug, email, name: 'Chloé', role: 'member' });
    const makeFor = async (member: string, scope: 'admin') =>
      (await createToken(pool, { org: slug, member, name: 'guide', scopes: [scope] })).token;
    const make = async (agent?: string): Promise<string> => {
      const asked = { org: slug, member: email, name: 'guide', ...(agent !== undefined && { agent }) };
      return (await createToken(pool, { ...asked, scopes: ['write'] })).token;
    };
    const tokens = {
      TOKEN: await make(),
      AGENT_TOKEN: await make('Builder'),
      ADMIN_TOKEN: await makeFor(owner.email, 'admin'),
    };
    await connect({ baseUrl: api.url, token: tokens.TOKEN }).projects.create({ key: 'WEB', name: 'Website' });
    return tokens;
  } finally {
    await pool.end();
  }
}

/**
 * Writes a program of a guide's page to a file below the repository. There the program finds its packages as
 * in a project that installed them.
 */
async function withProgram(
  code: string,
  name: string,
  work: (file: string) => Promise<unknown>,
): Promise<void> {
  const folder = path.join(repositoryRoot, 'dist/guides');
  await mkdir(folder, { recursive: true });
  const [base, extension] = name.split('.');
  const file = path.join(folder, `${base}-${process.pid}.${extension}`);
  await writeFile(file, code);
  try {
    await work(file);
  } finally {
    await rm(file);
  }
}

const runTypeScript = (code: string, name: string): Promise<void> =>
  withProgram(code, `${name}.ts`, (file) => run(process.execPath, [file], { env: environment }));

/** Returns the output that a page states for its blocks, or an empty string. */
const shownIn = (markdown: string): string =>
  [...markdown.matchAll(/^```text shown\n(.*?)^```$/gms)].map(([, text = '']) => text).join('');

describe.each(pages)('%s', (page) => {
  it('does what it says', async () => {
    const markdown = await readFile(path.join(guides, page), 'utf8');
    const blocks = blocksOf(markdown);
    // One shell runs all blocks of a page, so a block can use variables that earlier blocks set.
    const script = blocks.filter(({ language }) => language === 'bash').map(({ code }) => code);
    if (script.length > 0) {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script.join('\n')], {
        env: environment,
        cwd: repositoryRoot,
      });
      const shown = shownIn(markdown);
      if (shown !== '') expect(stdout).toBe(shown);
    }
    for (const [index, { language, code }] of blocks.entries()) {
      if (language === 'ts') await runTypeScript(code, `${path.basename(page, '.md')}-${index}`);
    }
    expect(blocks.every(({ code }) => code.trim() !== '')).toBe(true);
  }, 300_000);
});

/**
 * Returns true if a program listens on the port. Without this check the first delivery could fail, and the
 * second attempt of a webhook comes only seconds later.
 */
const isHeard = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => {
      resolve(false);
    });
  });

it('shows a receiver of webhooks that takes what Muster signed, and nothing else', async () => {
  const page = await readFile(path.join(guides, 'webhooks.md'), 'utf8');
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  const port = await findFreePort();
  const muster = connect({ baseUrl: api.url, token: environment['ADMIN_TOKEN'] ?? '' });
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await muster.webhooks.create({ projectId: 'WEB', url, kinds: ['story.created'] });
  await withProgram(code, 'receiver.mjs', async (file) => {
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
    const receiver = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(receiver, 'exit');
    try {
      const told = once(createInterface(receiver.stdout), 'line');
      await waitUntil(() => isHeard(port));
      const { story } = await muster.stories.create({ projectId: 'WEB', title: 'Heard of by webhook' });
      expect(await Promise.race([told, ended])).toEqual([`1 story.created ${story.key}`]);
      const body = JSON.stringify({ type: 'story.created', data: { seq: 2, subject: story } });
      const answered = async (id: string, key: string) => {
        const at = new Date();
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(key).sign(id, at, body),
        };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      };
      expect(await answered('ours', secret)).toBe(204);
      expect(await answered('theirs', `whsec_${Buffer.from('made up by another').toString('base64')}`)).toBe(
        400,
      );
    } finally {
      receiver.kill();
      await ended;
    }
  });
});

it('shows how a shop issues by one call and hears of the activation', async () => {
  const page = await readFile(path.join(guides, 'selling-licenses.md'), 'utf8');
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  const license = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('npm', ['run', '-s', 'license', '--', ...args], {
      env: environment,
      cwd: repositoryRoot,
    });
    return stdout;
  };
  await license('plan', 'set', 'hook', '--perpetual');
  const made = await license('token', 'new', '--name', 'hook', '--scope', 'issue,webhooks', '--json');
  const { secret: token } = JSON.parse(made) as { secret: string };
  const post = async <Answer>(address: string, body: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${licenses.url}${address}`, sent);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Answer;
  };
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/`;
  const hook = { url, kinds: ['activated'] };
  const { secret } = await post<{ secret: string }>('/api/operators/webhooks/create', hook);
  await withProgram(code, 'shop.mjs', async (file) => {
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
    const receiver = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(receiver, 'exit');
    try {
      const told = once(createInterface(receiver.stdout), 'line');
      await waitUntil(() => isHeard(port));
      const sale = { plan: 'hook', orderRef: 'shop-of-the-guide' };
      const sold = await post<{ licenses: { key: string }[] }>('/api/operators/licenses/issue', sale);
      const licenseKey = sold.licenses[0]?.key;
      await post('/api/activate', { licenseKey, machineId: 'machine-of-the-guide' });
      expect(await Promise.race([told, ended])).toEqual(['license.activated shop-of-the-guide 1']);
      const forged = await fetch(url, { method: 'POST', body: '{"type":"license.activated"}' });
      expect(forged.status).toBe(400);
    } finally {
      receiver.kill();
      await ended;
    }
  });
}, 300_000);

it('has guides that are run', async () => {
  const all = await Promise.all(pages.map((page) => readFile(path.join(guides, page), 'utf8')));
  expect(all.flatMap(blocksOf).length).toBeGreaterThan(8);
});
