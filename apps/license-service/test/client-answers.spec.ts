/** Tests that the client rejects answers that are forged, changed on the way or meant for another request. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LicenseClientOptions, type PublicKey } from '@muster/license-client';
import { generateKey } from '../src/key/key.ts';
import { revokeLicense } from '../src/operators/change.ts';
import { signCertificate } from '../src/signing/certificate.ts';
import { createAnswerSigner, digestOf } from '../src/signing/sign-answer.ts';
import { type InstalledClient, readStoredLicense, type Machines, openMachines } from './machines.ts';
import {
  passAnswerThrough,
  dropAnswer,
  type AlterAnswer,
  type InterceptingProxy,
  type RelayedAnswer,
} from './middle.ts';

let machines: Machines;
let interceptingProxy: InterceptingProxy;

beforeAll(async () => {
  machines = await openMachines();
  ({ middle: interceptingProxy } = machines);
});
afterEach(() => {
  interceptingProxy.resetAlterations();
});
afterAll(() => machines.close());

const install = (options?: Partial<LicenseClientOptions>): InstalledClient => machines.install(options);
const activateClient = () => machines.activateClient();

describe('what is made up', () => {
  const changed =
    (of: string, to: (value: string) => string): AlterAnswer =>
    (answer) => ({
      ...answer,
      headers: { ...answer.headers, [of]: to(String(answer.headers[of])) },
    });
  const otherBase64 = (value: string): string =>
    value.replace(/:(.)/, (_, first: string) => `:${first === 'A' ? 'B' : 'A'}`);
  let old: RelayedAnswer;

  const lies: [string, AlterAnswer][] = [
    ['a body', (answer) => ({ ...answer, body: answer.body.replace('false', 'true') + ' ' })],
    ['a status', (answer) => ({ ...answer, status: answer.status === 200 ? 403 : 200 })],
    ['a signature', changed('signature', otherBase64)],
    ['a digest', changed('content-digest', otherBase64)],
    ['a time', changed('signature-input', (value) => value.replace(/created=\d/, 'created=2'))],
    ['fewer fields', changed('signature-input', (value) => value.replace(' "license-nonce";req', ''))],
    ['a key', changed('signature-input', (value) => value.replace(/keyid="/, 'keyid="x'))],
    ['no signature', (answer) => ({ ...answer, headers: { 'license-verdict': 'final' } })],
    [
      'a page',
      () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Log in</html>' }),
    ],
    ['the answer to another question', (answer) => (old ??= answer)],
  ];

  it.each(lies)('%s: is no refusal, and no license', async (_what, lie) => {
    old = undefined;
    const { client, key } = await activateClient();
    interceptingProxy.alterAnswer = lie;
    if (_what.startsWith('the answer')) await install().activate(key);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    expect(await install().activate(generateKey())).toMatchObject({
      ...{ mayRun: false, isFinal: false, reason: 'untrusted' },
    });
  });

  it('an answer that was asked for without a nonce, as anybody may have it, does not count', async () => {
    const { client, key } = await activateClient();
    const query = new URLSearchParams({ licenseKey: key, machineId: await client.machineId() }).toString();
    const kept = await fetch(`${machines.serviceUrl}/api/activate/check?${query}`);
    const said = { status: 200, headers: Object.fromEntries(kept.headers), body: await kept.text() };
    expect(said.headers['signature']).toContain('license=');
    interceptingProxy.alterAnswer = () => said;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
  });

  it('a certificate of another key, another machine or another content lets nothing run', async () => {
    const { client } = await activateClient();
    const other = await activateClient();
    const whole = await readStoredLicense(client);
    const [version = '', body = '', signature = ''] = whole.certificate.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { exp: number };
    const longer = Buffer.from(JSON.stringify({ ...payload, exp: payload.exp + 1_000 })).toString(
      'base64url',
    );
    const theirs = await readStoredLicense(other.client);
    const cases = [
      [`${version}.${longer}.${signature}`, 'certificate_not_genuine'],
      [`${version}.${body}.AAAA`, 'certificate_not_genuine'],
      ['lic1', 'certificate_not_genuine'],
      [theirs.certificate, 'certificate_of_another_machine'],
    ];
    interceptingProxy.alterAnswer = dropAnswer;
    for (const [certificate, reason] of cases) {
      await writeFile(client.file, JSON.stringify({ ...whole, certificate }));
      expect(await client.check()).toMatchObject({ mayRun: false, reason });
    }
    await writeFile(client.file, '{ "damaged');
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'no_license' });
  });

  it('a header that says final makes no refusal of an outage, and one that says retry none of a refusal', async () => {
    const { client, id } = await activateClient();
    interceptingProxy.alterAnswer = changed('license-verdict', () => 'retry');
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    interceptingProxy.alterAnswer = (answer) => ({
      ...answer,
      status: 503,
      headers: { 'license-verdict': 'final' },
    });
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    interceptingProxy.alterAnswer = passAnswerThrough;
    await machines.world.asOperator((ask) => revokeLicense(ask, { id }, null));
    expect(await client.check()).toMatchObject({ mayRun: false, isFinal: true });
  });
});

describe("an answer to somebody else's body", () => {
  /**
   * Makes the proxy replace the request body, like an attacker. The client then receives an answer that is
   * signed for another body.
   */
  const ask = (claim: { licenseKey?: string; machineId?: string }): void => {
    interceptingProxy.alterBody = (body) => JSON.stringify({ ...(JSON.parse(body) as object), ...claim });
  };

  it('lets no machine run on the license of another one', async () => {
    const { client: paid, key } = await activateClient();
    const claim = { licenseKey: key, machineId: await paid.machineId() };
    const attempts = [
      { typed: 'anything at all', asked: claim },
      { typed: key, asked: { machineId: claim.machineId } },
    ];
    for (const { typed, asked } of attempts) {
      ask(asked);
      const client = install();
      expect(await client.activate(typed)).toMatchObject({ mayRun: false, reason: 'untrusted' });
      interceptingProxy.alterAnswer = dropAnswer;
      expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'no_license' });
      interceptingProxy.resetAlterations();
    }
  });

  it('takes no license from a machine that has one', async () => {
    const { client, key } = await activateClient();
    for (const claim of [{ machineId: 'another machine' }, { licenseKey: generateKey() }]) {
      ask(claim);
      expect(await client.activate(key)).toMatchObject({ mayRun: true, by: 'certificate' });
      expect(await client.release()).toMatchObject({ isReleased: false, reason: 'untrusted' });
      expect(await client.checkOffline()).toMatchObject({ mayRun: true, by: 'certificate' });
    }
  });
});

describe('a yes that is signed for this question', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = 'a-key';
  const publicKeys: PublicKey[] = [{ kty: 'OKP', crv: 'Ed25519', x, kid }];
  const signAnswer = createAnswerSigner({ kid, key: privateKey });
  const machineId = 'this machine';
  const now = Math.floor(Date.now() / 1_000);
  const certificateOf = (machine: string): string =>
    signCertificate(privateKey, {
      ...{ lic: 'a-license', plan: 'pro', features: {}, kid, iat: now, exp: now + 3_600 },
      machine: createHash('sha256').update(machine).digest('base64url'),
    });

  interface Yes {
    readonly key: string;
    readonly machineId: string;
    readonly certificate: string | undefined;
  }
  const key = generateKey();
  const whole: Yes = { key, machineId, certificate: certificateOf(machineId) };

  /** Makes the proxy answer activations with this content and a correct signature of the pinned key. */
  const say = ({ key: named, machineId: machine, certificate }: Yes): void => {
    const license = { key: named, plan: 'pro', expiresAt: null, machineId: machine, activated: true };
    const body = JSON.stringify({ success: true, license });
    interceptingProxy.alterAnswer = (_answer, target, { nonce, body: asked }) => ({
      status: 200,
      headers: {
        'license-verdict': 'final',
        ...(certificate !== undefined && { 'license-certificate': certificate }),
        ...signAnswer(
          { method: 'POST', target, digest: digestOf(asked), nonce },
          { status: 200, content: body },
        ),
      },
      body,
    });
  };

  it.each<[string, Partial<Yes>]>([
    ['names another key', { key: generateKey() }],
    ['names another machine', { machineId: 'another machine' }],
    ['brings no certificate', { certificate: undefined }],
    ['brings the certificate of another machine', { certificate: certificateOf('another machine') }],
    ['brings a certificate that nobody signed', { certificate: 'lic1.e30.AAAA' }],
  ])('is none where it %s', async (_what, change) => {
    const typed = key.slice('MSTR1-'.length).toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l');
    say({ ...whole, ...change });
    const client = install({ machineId, publicKeys });
    expect(await client.activate(typed)).toMatchObject({ mayRun: false, reason: 'untrusted' });
    expect(await client.checkOffline()).toMatchObject({ reason: 'no_license' });
    say(whole);
    expect(await client.activate(typed)).toMatchObject({ mayRun: true, by: 'service' });
  });
});
