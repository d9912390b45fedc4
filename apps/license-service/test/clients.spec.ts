/** The clients in other languages: against the vectors that all share, and against the service. */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { revoke } from '../src/operators/change.ts';
import { release } from '../src/operators/machines.ts';
import { away } from './middle.ts';
import { type Machines, openMachines } from './machines.ts';

const clients = path.join(import.meta.dirname, '../../../libs/license-client/clients');
const vectors = path.join(clients, '../vectors');

const isThere = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const hasPython = isThere('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))');
const hasShell = isThere('sh', '-c', 'openssl version | grep -q "OpenSSL 3" && command -v curl');

interface Said {
  readonly code: number;
  readonly out: string;
}

const run = (program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Said> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env } };
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, out: `${stdout}${stderr}`.trim() });
    });
  });

let machines: Machines;
let home: string;
beforeAll(async () => {
  machines = await openMachines();
  home = await mkdtemp(path.join(tmpdir(), 'muster-license-clients-'));
});
afterAll(async () => {
  await machines.close();
  await rm(home, { recursive: true });
});

/** What one language says of `activate KEY`, `check`, `offline` and `release`; each program has a folder of its own. */
type Speak = (folder: string, what: string, key?: string) => Promise<Said>;

let programs = 0;

/** One life of a license, the same for every language. */
function lives(speak: Speak): void {
  const program = () => {
    programs += 1;
    const folder = path.join(home, String(programs));
    return (what: string, key?: string) => speak(folder, what, key);
  };

  it('a program runs by the service, and by its certificate where that is away', async () => {
    const { key } = await machines.world.issue();
    const say = program();
    expect((await say('check')).code).toBe(1);
    expect(await say('activate', key.toLowerCase())).toMatchObject({ code: 0 });
    expect(await say('check')).toMatchObject({ code: 0 });
    machines.middle.meddle = away;
    expect(await say('check')).toMatchObject({
      code: 0,
      out: expect.stringContaining('certificate'),
    });
    machines.middle.leaveAlone();
    expect(await say('offline')).toMatchObject({ code: 0 });
  });

  it('a revoked license is refused, and pulling the cable afterwards does not help', async () => {
    const { key, id } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    await machines.world.asOperator((ask) => revoke(ask, { id }, null));
    expect((await say('check')).code).toBe(1);
    machines.middle.meddle = away;
    expect((await say('check')).code).not.toBe(0);
    machines.middle.leaveAlone();
  });

  it('a refusal that is forged on the way is none', async () => {
    const { key } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    machines.middle.meddle = () => ({
      status: 403,
      headers: { 'license-verdict': 'final', 'content-type': 'application/json' },
      body: '{"code":"forbidden","message":"forged"}',
    });
    expect(await say('check')).toMatchObject({ code: 0 });
    machines.middle.leaveAlone();
  });

  it('a yes that is changed on the way is none, and an unknown key is refused with its message', async () => {
    const say = program();
    const { key } = await machines.world.issue();
    machines.middle.meddle = (answer) => ({ ...answer, body: answer.body.replace('"pro"', '"max"') });
    expect((await say('activate', key)).code).not.toBe(0);
    machines.middle.leaveAlone();
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(await say('activate', typo)).toMatchObject({
      code: 1,
      out: expect.stringContaining('looks wrong'),
    });
  });

  it('a license is given back, and one that support released is not taken again by a check', async () => {
    const { key, id } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    await say('release');
    const [row] = await machines.world.rows<{ held: number }>(
      'select count(*)::int as held from licenses.held_machines where license_id = $1',
      id,
    );
    expect(row?.held).toBe(0);
    await say('activate', key);
    await machines.world.asOperator((ask) => release(ask, { id }));
    expect((await say('check')).code).toBe(1);
  });
}

const named = <Value>(name: string): Promise<Value> =>
  readFile(path.join(vectors, `${name}.json`), 'utf8').then((text) => JSON.parse(text) as Value);

(hasPython ? describe : describe.skip)('Python (python3, 3.9 or newer)', () => {
  it('finds what the vectors say', async () => {
    const said = await run('python3', [path.join(clients, 'python/vectors.py'), vectors]);
    expect(said).toEqual({ code: 0, out: expect.stringMatching(/^\d\d cases$/) });
  });
  lives((folder, what, key) =>
    run('python3', [
      path.join(clients, 'python/try.py'),
      ...[machines.middle.url, folder, what, ...(key === undefined ? [] : [key])],
    ]),
  );
});

(hasShell ? describe : describe.skip)('POSIX shell (sh, curl, openssl 3)', () => {
  const vector = (...args: string[]) => run('sh', [path.join(clients, 'shell/vectors.sh'), ...args]);

  it('finds what the vectors of certificates say', async () => {
    const { publicKeys, cases } = await named<{
      publicKeys: object[];
      cases: { certificate: string; machineId: string; nowSeconds: number; outcome: string }[];
    }>('certificates');
    const keys = path.join(home, 'certificate-keys.json');
    await writeFile(keys, JSON.stringify({ keys: publicKeys }));
    for (const { certificate, machineId, nowSeconds, outcome } of cases) {
      const said = await vector('certificate', keys, certificate, machineId, String(nowSeconds));
      expect([certificate, said.out]).toEqual([certificate, outcome]);
    }
  });

  it('finds what the vectors of answers say', async () => {
    const { publicKeys, cases } = await named<{
      publicKeys: object[];
      cases: {
        name: string;
        question: { method: string; target: string; body: string | null; nonce: string };
        answer: { status: number; headers: Record<string, string>; body: string };
        signedAt: number | null;
      }[];
    }>('answers');
    const keys = path.join(home, 'answer-keys.json');
    await writeFile(keys, JSON.stringify({ keys: publicKeys }));
    for (const { name, question, answer, signedAt } of cases) {
      const folder = await mkdtemp(path.join(home, 'answer-'));
      const headers = Object.entries(answer.headers).map(([header, value]) => `${header}: ${value}\r\n`);
      await writeFile(path.join(folder, 'headers'), `HTTP/1.1 ${answer.status} x\r\n${headers.join('')}\r\n`);
      await writeFile(path.join(folder, 'body'), answer.body);
      const { method, target, body, nonce } = question;
      const digest = body === null ? '' : `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
      const said = await vector('answer', folder, keys, method, target, digest, nonce, String(answer.status));
      expect([name, said.out]).toEqual([name, signedAt === null ? '' : String(signedAt)]);
    }
  });

  it('finds what the vectors of clocks say, in whole seconds', async () => {
    const { cases } = await named<{
      cases: {
        name: string;
        seen: { aheadMillis: number; latestMillis: number };
        clockMillis: number;
        writtenMillis: number;
        now: number | null;
      }[];
    }>('clock');
    for (const { name, seen, clockMillis, writtenMillis, now } of cases) {
      const millis = [seen.aheadMillis, seen.latestMillis, clockMillis, writtenMillis];
      if (millis.some((one) => one % 1_000 !== 0)) continue;
      const said = await vector('clock', ...millis.map((one) => String(one / 1_000)));
      expect([name, said.out]).toEqual([name, now === null ? '' : String(now / 1_000)]);
    }
  });

  lives((folder, what, key) =>
    run('sh', [path.join(clients, 'shell/muster-license.sh'), what, ...(key === undefined ? [] : [key])], {
      LICENSE_URL: machines.middle.url,
      LICENSE_PRODUCT: 'license-demo',
      LICENSE_FOLDER: folder,
    }),
  );
});
