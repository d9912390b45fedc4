/** Tests signatures and certificates with independent tools: another library, ten lines of Node, and openssl. */
import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpbis } from 'http-message-signatures';
import { generateKey } from '../src/key/key.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
} from './world.ts';
import { createSigningKey, retireSigningKey } from '../src/operators/signing-keys.ts';

let world: LicenseWorld;
let service: RunningService;

beforeAll(async () => {
  world = await openLicenseWorld();
  service = await world.start();
});
afterAll(() => world.close());

interface PublishedKey extends JsonWebKey {
  readonly kid: string;
}

const publishedKeys = async (of = service): Promise<PublishedKey[]> =>
  (await of.call('/.well-known/license-keys.json')).json['keys'] as PublishedKey[];

interface SignedCall {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly nonce?: string;
}

const digestOf = (text: string): string => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;

/** Verifies the signature of an answer to a request with an independent library. */
async function isSigned(
  answer: HttpAnswer,
  { method, path: target, body, nonce }: SignedCall,
  of = service,
): Promise<boolean> {
  if (answer.headers.get('content-digest') !== digestOf(answer.text)) return false;
  if (answer.headers.get('signature-input')?.includes('"content-digest";req') !== (body !== undefined))
    return false;
  const keys = await publishedKeys(of);
  const result = await httpbis
    .verifyMessage(
      {
        requiredFields: ['@status', 'content-digest', '@method', '@path', '@query'],
        maxAge: 60,
        keyLookup: async ({ keyid }) => {
          const jwk = keys.find(({ kid }) => kid === keyid);
          if (jwk === undefined) return null;
          const key = createPublicKey({ key: jwk, format: 'jwk' });
          return { verify: async (data, signature) => verify(null, data, key, signature) };
        },
      },
      { status: answer.status, headers: Object.fromEntries(answer.headers) },
      {
        method,
        url: `https://anything.example${target}`,
        headers: {
          ...(body !== undefined && { 'content-digest': digestOf(body) }),
          ...(nonce !== undefined && { 'license-nonce': nonce }),
        },
      },
    )
    .catch(() => false);
  return result === true;
}

/** Sends a request with exactly this target, which fetch cannot do. */
async function askFor(target: string): Promise<HttpAnswer> {
  const { hostname, port } = new URL(service.url);
  const asking = request({ host: hostname, port, path: target, agent: false }).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  const content = await text(answer);
  const headers = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  return { status: answer.statusCode ?? 0, headers, text: content, json: {} };
}

const bodyOf = (licenseKey: string, machineId: string): string => JSON.stringify({ licenseKey, machineId });

describe('an answer', () => {
  it('is signed, whatever it says', async () => {
    const { key } = await world.issue();
    const checkPath = `/api/activate/check?licenseKey=${key}&machineId=a%20b`;
    const post = (
      body: string,
      status: number,
      type = 'application/json',
      path = '/api/activate',
    ): [SignedCall, Promise<HttpAnswer>, number] => {
      const asking = service.call(path, { method: 'POST', headers: { 'content-type': type }, body });
      return [{ method: 'POST', path, body }, asking, status];
    };
    const questions: [SignedCall, Promise<HttpAnswer>, number][] = [
      post(bodyOf(key, 'a b'), 200),
      post(bodyOf(generateKey(), 'a'), 404),
      post(bodyOf('nonsense', 'a'), 400),
      post('{"licenseKey"', 400),
      post(bodyOf(key, 'a b'), 400, 'text/plain'),
      post('{}', 404, 'application/json', '/nothing'),
      post(bodyOf(key, 'a b'), 415, 'application/json; charset=latin1'),
      post(bodyOf(key, 'a b'), 415, 'json'),
      [
        { method: 'PUT', path: '/api/activate', body: 'anything' },
        service.call('/api/activate', { method: 'PUT', body: 'anything' }),
        405,
      ],
      [{ method: 'POST', path: '/api/activate' }, service.call('/api/activate', { method: 'POST' }), 400],
      [{ method: 'GET', path: checkPath }, service.call(checkPath), 200],
      [{ method: 'GET', path: '/api/activate/check' }, service.call('/api/activate/check'), 400],
      [{ method: 'GET', path: '/nothing?a=%F0%9F' }, service.call('/nothing?a=%F0%9F'), 404],
      [{ method: 'DELETE', path: '/api/activate' }, service.call('/api/activate', { method: 'DELETE' }), 405],
      [{ method: 'HEAD', path: checkPath }, service.call(checkPath, { method: 'HEAD' }), 200],
      [
        { method: 'GET', path: '/.well-known/license-keys.json' },
        service.call('/.well-known/license-keys.json'),
        200,
      ],
    ];
    for (const [question, asking, status] of questions) {
      const answer = await asking;
      expect({ question, status: answer.status, signed: await isSigned(answer, question) }).toEqual({
        ...{ question, status, signed: true },
      });
    }
  });

  it('is signed over path and query where a proxy asks with an absolute URL', async () => {
    const { key } = await world.issue();
    const question = { method: 'GET', path: `/api/activate/check?licenseKey=${key}&machineId=a` };
    for (const host of ['http://licenses.example', 'https://user@licenses.example:8443']) {
      const answer = await askFor(`${host}${question.path}`);
      expect([answer.status, answer.headers.get('license-state')]).toEqual([200, 'unactivated']);
      expect(await isSigned(answer, question)).toBe(true);
      expect(await isSigned(answer, { ...question, path: '/' })).toBe(false);
    }
    const home = await askFor('http://licenses.example?a=b');
    expect([home.status, await isSigned(home, { method: 'GET', path: '/?a=b' })]).toEqual([200, true]);
  });

  it('does not check for another question, another body or another status', async () => {
    const { key } = await world.issue();
    const question = { method: 'POST', path: '/api/activate', body: bodyOf(key, 'a') };
    const answer = await service.activate(key, 'a');
    expect(await isSigned(answer, question)).toBe(true);
    const forged: [HttpAnswer, SignedCall][] = [
      [answer, { ...question, method: 'GET' }],
      [answer, { ...question, path: '/api/activate/release' }],
      [answer, { ...question, path: '/api/activate?x=1' }],
      [answer, { ...question, body: bodyOf(key, 'b') }],
      [{ ...answer, status: 201 }, question],
      [{ ...answer, text: `${answer.text} ` }, question],
    ];
    for (const [one, other] of forged) expect(await isSigned(one, other)).toBe(false);
  });

  it('covers the bytes that came, whatever their digest was said to be', async () => {
    const { key } = await world.issue();
    const body = bodyOf(key, 'a');
    const headers = { 'content-digest': digestOf(bodyOf(key, 'b')) };
    const answer = await service.activate(key, 'a', headers);
    expect(await isSigned(answer, { method: 'POST', path: '/api/activate', body })).toBe(true);
    expect(await isSigned(answer, { method: 'POST', path: '/api/activate', body: bodyOf(key, 'b') })).toBe(
      false,
    );
  });

  it('covers the nonce of the client, so that it cannot be given again', async () => {
    const { key } = await world.issue();
    const question = { method: 'POST', path: '/api/activate', body: bodyOf(key, 'a'), nonce: 'n-1.+/=' };
    const answer = await service.activate(key, 'a', { 'license-nonce': question.nonce });
    expect(answer.headers.get('signature-input')).toContain('"license-nonce";req');
    expect(await isSigned(answer, question)).toBe(true);
    expect(await isSigned(answer, { ...question, nonce: 'n-2' })).toBe(false);
    const unfit = await service.activate(key, 'a', { 'license-nonce': 'with space' });
    expect([unfit.status, unfit.headers.get('license-verdict')]).toEqual([400, 'final']);
    expect(await isSigned(unfit, { method: 'POST', path: '/api/activate', body: question.body })).toBe(true);
  });
});

const certificateOf = (answer: HttpAnswer): string => answer.headers.get('license-certificate') ?? '';
const payloadOf = (certificate: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(certificate.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a certificate', () => {
  it('is checked by ten lines of Node', async () => {
    const { key, id } = await world.issue({ plan: 'pro' });
    const certificate = certificateOf(await service.activate(key, 'machine-1'));
    const keys = await publishedKeys();

    const [version, body, signature] = certificate.split('.');
    const payload = JSON.parse(Buffer.from(body ?? '', 'base64url').toString()) as Record<string, unknown>;
    const jwk = keys.find(({ kid }) => kid === payload['kid']);
    if (jwk === undefined) throw new Error('unknown key');
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const isGenuine = verify(
      null,
      Buffer.from(`${version}.${body}`),
      publicKey,
      Buffer.from(signature ?? '', 'base64url'),
    );
    const isMine = payload['machine'] === createHash('sha256').update('machine-1').digest('base64url');
    const isAlive = Number(payload['exp']) > Date.now() / 1_000;

    expect([version, isGenuine, isMine, isAlive]).toEqual(['lic1', true, true, true]);
    expect(payload).toMatchObject({ lic: id, plan: 'pro' });
    expect(certificate).not.toContain(key);
  });

  it('is checked by openssl alone', async () => {
    const { key } = await world.issue();
    const certificate = certificateOf(await service.activate(key, 'machine-1'));
    const [version, body = '', signature = ''] = certificate.split('.');
    const jwk = (await publishedKeys()).find(({ kid }) => kid === payloadOf(certificate)['kid']);
    const folder = mkdtempSync(path.join(tmpdir(), 'muster-certificate-'));
    try {
      const inFolder = (name: string): string => path.join(folder, name);
      // An Ed25519 public key in DER consists of these twelve bytes and the 32 bytes of `x`.
      const der = Buffer.concat([
        Buffer.from('302a300506032b6570032100', 'hex'),
        Buffer.from(jwk?.x ?? '', 'base64url'),
      ]);
      writeFileSync(inFolder('key.der'), der);
      writeFileSync(inFolder('signature'), Buffer.from(signature, 'base64url'));
      const openssl = (signed: string): string => {
        writeFileSync(inFolder('signed'), signed);
        const files = ['-in', inFolder('signed'), '-sigfile', inFolder('signature')];
        const args = [
          'pkeyutl',
          '-verify',
          '-pubin',
          '-keyform',
          'DER',
          '-inkey',
          inFolder('key.der'),
          '-rawin',
        ];
        return execFileSync('openssl', [...args, ...files], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        });
      };
      expect(openssl(`${version}.${body}`)).toContain('Signature Verified Successfully');
      expect(() => openssl(`${version}.${body.slice(1)}`)).toThrow();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lives seven days, never past the end of the license; the row says how long', async () => {
    const week = 7 * 86_400;
    const long = await world.issue({ term: { kind: 'perpetual' } });
    const short = await world.issue({ term: { kind: 'for', seconds: 3_600 } });
    for (const [{ key, id }, length] of [
      [long, week],
      [short, 3_600],
    ] as const) {
      const asked = Math.floor(Date.now() / 1_000);
      const answer = await service.activate(key, 'a');
      const { iat, exp } = payloadOf(certificateOf(answer)) as { iat: number; exp: number };
      expect(iat).toBeGreaterThanOrEqual(asked - 1);
      expect(iat).toBeLessThanOrEqual(Date.now() / 1_000 + 1);
      expect(exp - iat).toBe(length);
      const [row] = await world.rows<{ offline_until: string }>(
        'select offline_until from licenses.licenses where id = $1',
        id,
      );
      expect(new Date(row?.offline_until ?? '').getTime() / 1_000).toBe(exp);
    }
    const refused = await service.activate(long.key, 'b');
    expect(certificateOf(refused)).toBe('');
  });
});

describe('signing keys', () => {
  it('are published before they are used, used when they are due, and published on when they are retired', async () => {
    const own = await openLicenseWorld();
    try {
      const rotating = await own.start();
      const { key } = await own.issue();
      const [first] = await publishedKeys(rotating);
      const kidOf = async (): Promise<unknown> =>
        payloadOf(certificateOf(await rotating.activate(key, 'a')))['kid'];
      expect(await kidOf()).toBe(first?.kid);

      const next = await own.asOperator((ask) => createSigningKey(ask, own.seal, { inSeconds: 3_600 }));
      await rotating.refreshKeys();
      expect((await publishedKeys(rotating)).map(({ kid }) => kid)).toContain(next.kid);
      expect(await kidOf()).toBe(first?.kid);

      await own.rows(`update licenses.signing_keys set active_from = now() where kid = $1`, next.kid);
      await rotating.refreshKeys();
      expect(await kidOf()).toBe(next.kid);
      const answer = await rotating.activate(key, 'a');
      const question = { method: 'POST', path: '/api/activate', body: bodyOf(key, 'a') };
      expect(await isSigned(answer, question, rotating)).toBe(true);

      // Retires the first key while clients still hold certificates that it signed.
      await own.asOperator((ask) =>
        retireSigningKey(ask, { kid: first?.kid ?? '', publishedSeconds: 3_600 }),
      );
      await rotating.refreshKeys();
      expect((await publishedKeys(rotating)).map(({ kid }) => kid)).toContain(first?.kid);
      await expect(
        own.asOperator((ask) => retireSigningKey(ask, { kid: next.kid, publishedSeconds: 3_600 })),
      ).rejects.toThrow(/no other signing key/);
      await own.rows(
        `update licenses.signing_keys set published_until = date_trunc('milliseconds', now()) where kid = $1`,
        first?.kid,
      );
      await rotating.refreshKeys();
      expect((await publishedKeys(rotating)).map(({ kid }) => kid)).toEqual([next.kid]);
    } finally {
      await own.close();
    }
  });

  it('lie sealed: another secret opens none, and then nothing is signed and the service is not ready', async () => {
    const own = await openLicenseWorld();
    try {
      const [row] = await own.rows<{ sealed_key: Buffer }>('select sealed_key from licenses.signing_keys');
      // Every Ed25519 private key in DER starts with these bytes.
      expect(row?.sealed_key.includes(Buffer.from('302e020100300506032b6570', 'hex'))).toBe(false);
      await own.rows(`update licenses.secrets set value = sha256(value) where name = 'seal'`);
      const locked = await own.start({
        environment: { ...noLimits, LICENSE_SEAL: 'another secret, long enough' },
      });
      expect((await locked.call('/readyz')).json).toMatchObject({
        status: 'not_ready',
        checks: { signing: 'away' },
      });
      const answer = await locked.activate((await own.issue()).key, 'a');
      expect([answer.status, answer.headers.get('signature')]).toEqual([200, null]);
    } finally {
      await own.close();
    }
  });
});
