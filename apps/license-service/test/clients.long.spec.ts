/** Tests the clients in interpreted languages against the shared test vectors and against the service. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  clients,
  expectGuideWorks,
  isInstalled,
  lives,
  openHome,
  guideProgramOf,
  run,
  vectors,
} from './client-lives.ts';

const hasPython = isInstalled('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))');
const hasShell = isInstalled('sh', '-c', 'openssl version | grep -q "OpenSSL 3" && command -v curl');

const clientHome = openHome();
const { machines, home } = clientHome;

const readVector = <Value>(name: string): Promise<Value> =>
  readFile(path.join(vectors, `${name}.json`), 'utf8').then((text) => JSON.parse(text) as Value);

/**
 * Runs two cases at a time, because each case starts one or more programs, and the machine may have only two
 * cores.
 */
async function forEach<Case>(cases: readonly Case[], work: (one: Case) => Promise<void>): Promise<void> {
  const left = cases.values();
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const one of left) await work(one);
    }),
  );
}

(hasPython ? describe : describe.skip)('Python (python3, 3.9 or newer)', () => {
  it('finds what the vectors say', async () => {
    const said = await run('python3', [path.join(clients, 'python/vectors.py'), vectors]);
    expect(said).toEqual({ code: 0, out: expect.stringMatching(/^\d+ cases$/) });
  });
  it('runs as the guide says', async () => {
    const folder = await mkdtemp(path.join(home(), 'guide-'));
    await writeFile(path.join(folder, 'app.py'), await guideProgramOf('Python'));
    await cp(path.join(clients, 'python/muster_license.py'), path.join(folder, 'muster_license.py'));
    await expectGuideWorks(clientHome, ['python3', path.join(folder, 'app.py')]);
  });

  lives(clientHome, (folder, what, given, env) =>
    run(
      'python3',
      [
        path.join(clients, 'python/try.py'),
        ...[machines().middle.url, folder, what, ...(given === undefined ? [] : [given])],
      ],
      { ...(env !== undefined && { env }) },
    ),
  );
});

(hasShell ? describe : describe.skip)('POSIX shell (sh, curl, openssl 3)', () => {
  const vector = (...args: string[]) => run('sh', [path.join(clients, 'shell/vectors.sh'), ...args]);

  it.each([
    ['certificates', 'lic1'],
    ['trials', 'trial1'],
  ])('finds what the vectors of %s say', async (file, kind) => {
    const { publicKeys, cases } = await readVector<{
      publicKeys: object[];
      cases: { certificate: string; machineId: string; nowSeconds: number; outcome: string }[];
    }>(file);
    const keys = path.join(home(), 'certificate-keys.json');
    await writeFile(keys, JSON.stringify({ keys: publicKeys }));
    await forEach(cases, async ({ certificate, machineId, nowSeconds, outcome }) => {
      const said = await vector('certificate', keys, certificate, machineId, String(nowSeconds), kind);
      expect([certificate, said.out]).toEqual([certificate, outcome]);
    });
  });

  it('finds what the vectors of the air gap say', async () => {
    const { publicKeys, requests, answers } = await readVector<{
      publicKeys: object[];
      requests: { licenseKey: string; machineId: string; nonce: string; text: string }[];
      answers: {
        name: string;
        request: { licenseKey: string; machineId: string; nonce: string };
        answer: string;
        outcome: string;
        certificate?: string;
        isFinal?: boolean;
        message?: string;
      }[];
    }>('air-gap');
    await forEach(requests, async ({ licenseKey, machineId, nonce, text }) => {
      expect((await vector('request', licenseKey, machineId, nonce)).out).toBe(text);
    });
    const keys = path.join(home(), 'carried-keys.json');
    await writeFile(keys, JSON.stringify({ keys: publicKeys }));
    await forEach(answers, async ({ name, request, answer, outcome, certificate, isFinal, message }) => {
      const { licenseKey, machineId, nonce } = request;
      const said = await vector('carried', keys, answer, licenseKey, machineId, nonce);
      const own = isFinal === undefined ? outcome : `own ${outcome} ${isFinal} ${message}`;
      expect([name, said.out]).toEqual([
        name,
        certificate === undefined ? own : expect.stringMatching(`^granted ${certificate} \\d+$`),
      ]);
    });
  });

  it('finds what the vectors of answers say', async () => {
    const { publicKeys, cases } = await readVector<{
      publicKeys: object[];
      cases: {
        name: string;
        question: { method: string; target: string; body: string | null; nonce: string };
        answer: { status: number; headers: Record<string, string>; body: string };
        signedAt: number | null;
      }[];
    }>('answers');
    const keys = path.join(home(), 'answer-keys.json');
    await writeFile(keys, JSON.stringify({ keys: publicKeys }));
    await forEach(cases, async ({ name, question, answer, signedAt }) => {
      const folder = await mkdtemp(path.join(home(), 'answer-'));
      const headers = Object.entries(answer.headers).map(([header, value]) => `${header}: ${value}\r\n`);
      await writeFile(path.join(folder, 'headers'), `HTTP/1.1 ${answer.status} x\r\n${headers.join('')}\r\n`);
      await writeFile(path.join(folder, 'body'), answer.body);
      const { method, target, body, nonce } = question;
      const digest = body === null ? '' : `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
      const said = await vector('answer', folder, keys, method, target, digest, nonce, String(answer.status));
      expect([name, said.out]).toEqual([name, signedAt === null ? '' : String(signedAt)]);
    });
  });

  it('finds what the vectors of clocks say, in whole seconds', async () => {
    const { cases } = await readVector<{
      cases: {
        name: string;
        seen: { aheadMillis: number; latestMillis: number };
        clockMillis: number;
        writtenMillis: number;
        now: number | null;
      }[];
    }>('clock');
    await forEach(cases, async ({ name, seen, clockMillis, writtenMillis, now }) => {
      const millis = [seen.aheadMillis, seen.latestMillis, clockMillis, writtenMillis];
      if (millis.some((one) => one % 1_000 !== 0)) return;
      const said = await vector('clock', ...millis.map((one) => String(one / 1_000)));
      expect([name, said.out]).toEqual([name, now === null ? '' : String(now / 1_000)]);
    });
  });

  it('says a feature as a line of its own, and nothing of one that the license has not', async () => {
    const { key } = await machines().world.issue({ features: { export: true, seats: 5 } });
    const env = {
      ...{ LICENSE_URL: machines().middle.url, LICENSE_PRODUCT: 'license-demo' },
      LICENSE_FOLDER: await mkdtemp(path.join(home(), 'features-')),
    };
    const program = path.join(clients, 'shell/muster-license.sh');
    expect((await run('sh', [program, 'activate', key], { env })).code).toBe(0);
    const said = await run(
      'sh',
      ['-c', 'for one in export seats colors; do sh "$0" feature $one; done', program],
      { env },
    );
    expect(said.out).toBe('true\n5');
  });

  lives(clientHome, (folder, what, given, env) =>
    run(
      'sh',
      [path.join(clients, 'shell/muster-license.sh'), what, ...(given === undefined ? [] : [given])],
      {
        env: {
          ...env,
          LICENSE_URL: machines().middle.url,
          LICENSE_PRODUCT: 'license-demo',
          LICENSE_FOLDER: folder,
        },
      },
    ),
  );
});
