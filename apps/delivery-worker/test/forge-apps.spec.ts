/**
 * A GitHub App created from our manifest, with a server that follows GitHub's documentation and verifies
 * signatures.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acceptAppCode } from '@muster/forges';
import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';
import { acmeRepository, pullEvent, type PullRequestExample, shaOf } from '@muster/testing/github';
import { type ForgeWithSecret, deliver, secretCipher } from './forge-deliveries.ts';
import { type ForgeJobs, openForgeJobs } from './forge-jobs.ts';
import { type ReceivedForgeCall, type ForgeServer, openForge, replyWith } from './forge-server.ts';

const world = useWorld(withInternalHandlers(handlers), reactions);
const forgesConfig = { seals: secretCipher, baseUrl: 'https://muster.example' };
const a = shaOf('a');
const life: PullRequestExample = {
  ...{ repository: acmeRepository, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};
const code = 'a180b1a3d263c81bc6441d7b990bae27d4c10679';
const { privateKey: pem, publicKey } = generateKeyPairSync('rsa', {
  ...{ modulusLength: 2_048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const webhookSecret = randomBytes(20).toString('hex');
const appId = 4711;

/**
 * Returns true if the app's key signed the request's JWT for this app and the current time, as GitHub
 * requires.
 */
function isSigned({ headers }: ReceivedForgeCall): boolean {
  const [head = '', claims = '', signature = ''] = (headers.authorization ?? '').slice(7).split('.');
  const { iss, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as {
    iss?: number;
    exp?: number;
  };
  const isOurs = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey(publicKey),
    Buffer.from(signature, 'base64url'),
  );
  return isOurs && iss === appId && (exp ?? 0) * 1_000 > Date.now();
}

/**
 * Simulates GitHub: a code creates an app once; the signing app finds its installation and gets a token for
 * it.
 */
function answerAsGitHub(forge: ForgeServer): void {
  const unused = new Set([code]);
  const madeApp = {
    ...{ id: appId, slug: 'muster-acme', name: 'Muster acme', client_id: 'Iv1.8a61f9b3a7aba766' },
    ...{ node_id: 'MDM6QXBwNTk=', client_secret: '1726be1638095a19edd134c77bde3aa2ece1e5d8' },
    ...{ webhook_secret: webhookSecret, pem, html_url: `${forge.url}/github-apps/muster-acme` },
    ...{ permissions: { checks: 'write' }, events: ['push', 'pull_request'] },
  };
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const answerTo = (asked: ReceivedForgeCall): { status: number; json: unknown } => {
    const [, ofApp] = /^\/api\/v3\/app-manifests\/(\w+)\/conversions$/.exec(asked.path) ?? [];
    if (ofApp !== undefined)
      return unused.delete(ofApp)
        ? { status: 201, json: madeApp }
        : { status: 404, json: { message: 'Not Found' } };
    const isInstallation = asked.path.endsWith('/installation');
    if (isInstallation || asked.path.includes('/app/')) {
      if (!isSigned(asked))
        return { status: 401, json: { message: 'A JSON web token could not be decoded' } };
      return isInstallation
        ? { status: 200, json: { id: 99 } }
        : { status: 201, json: { token: 'ghs_installed', expires_at: expires } };
    }
    return asked.headers.authorization === 'Bearer ghs_installed'
      ? { status: 201, json: {} }
      : { status: 401, json: { message: 'Bad credentials' } };
  };
  forge.answer((asked, response) => {
    const { status, json } = answerTo(asked);
    replyWith(response, status, json);
  });
}

let people: PeopleOf<typeof world>;
let forge: ForgeServer;
let jobs: ForgeJobs;
let connectionId: string;
let secret: string;
let ticket: string;

beforeEach(async () => {
  forge = await openForge();
  jobs = openForgeJobs(world);
  answerAsGitHub(forge);
  people = await world.org();
  const { connection, setup } = await people.ana.forges.connect({ kind: 'github', baseUrl: forge.url });
  connectionId = connection.id;
  ({ secret } = setup);
  ticket = new URL(setup.manifestUrl ?? '').searchParams.get('ticket') ?? '';
});
afterEach(async () => {
  jobs.close();
  await forge.close();
});

const exchangeCode = (given = code) =>
  acceptAppCode(world.database.app, forgesConfig, { connectionId, ticket, code: given });
const settle = () => jobs.settle(people.orgId);
const connectionNow = async () => (await people.ana.forges.get({ connectionId })).connection;
const paths = () => forge.asked.map(({ method, path }) => `${method} ${path}`);
const send = (signedWith: string, ...event: Parameters<typeof pullEvent>) => {
  const connected: ForgeWithSecret = { id: connectionId, kind: 'github', secret: signedWith };
  return deliver(world, people, connected, pullEvent(...event));
};

describe('a GitHub App made of the manifest', () => {
  it('gives the connection its secret and its credentials, by a code that works once', async () => {
    await exchangeCode();
    await settle();
    expect(paths()).toEqual([`POST /api/v3/app-manifests/${code}/conversions`]);
    expect(forge.asked[0]?.headers).toMatchObject({ 'user-agent': 'Muster' });
    expect(forge.asked[0]?.headers.authorization).toBeUndefined();
    expect(await connectionNow()).toMatchObject({
      ...{ credentialsKind: 'app', appUrl: `${forge.url}/github-apps/muster-acme`, lastError: null },
      version: 2,
    });
    const { items } = await people.ana.activity.list({ kinds: ['forge.updated'] });
    expect(items).toMatchObject([
      { actor: { kind: 'system', name: 'GitHub' }, data: { fields: ['credentials', 'secret'] } },
    ]);
    await exchangeCode('another');
    await settle();
    expect(forge.asked).toHaveLength(1);
  });

  it('keeps neither the code nor the keys where they can be read', async () => {
    await exchangeCode();
    const written = async () =>
      JSON.stringify([
        await world.rows(`select payload::text from outbox where org_id = $1`, people.orgId),
        await world.rows(
          `select encode(secret, 'escape') s, encode(credentials, 'escape') c from forge_connections where org_id = $1`,
          people.orgId,
        ),
        await world.rows(`select data::text from activity where org_id = $1`, people.orgId),
      ]);
    expect(await written()).not.toContain(code);
    await settle();
    for (const kept of [code, webhookSecret, 'PRIVATE KEY']) expect(await written()).not.toContain(kept);
  });

  it('is believed by its own webhook secret, and no more by the one before', async () => {
    await exchangeCode();
    await settle();
    await people.ana.projects.create({ key: 'WEB', name: 'Web' });
    await people.ana.forges.repositories.link({
      ...{ projectId: 'WEB', connectionId, externalId: String(acmeRepository.id) },
    });
    await expect(send(secret, life, 'opened', a, 1)).rejects.toMatchObject({ status: 401 });
    expect(await send(webhookSecret, life, 'opened', a, 1)).toMatchObject({ trust: 'verified' });
  });

  it('sends the check of a head as its installation, for which it signs', async () => {
    await exchangeCode();
    await settle();
    await people.ana.projects.create({ key: 'WEB', name: 'Web' });
    await people.ana.forges.repositories.link({
      ...{ projectId: 'WEB', connectionId, externalId: String(acmeRepository.id) },
    });
    const { story } = await people.ana.stories.create({
      ...{ projectId: 'WEB', title: 'Land', status: 'in_progress' },
    });
    const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: story.id },
    });
    await people.chloe.deliveryExecutions.update({
      ...{ executionId: execution.id, leaseToken, git: { branch: 'topic' } },
    });
    await send(webhookSecret, life, 'opened', a, 1);
    await settle();
    expect(paths().slice(1)).toEqual([
      'GET /api/v3/repos/acme/api/installation',
      'POST /api/v3/app/installations/99/access_tokens',
      'POST /api/v3/repos/acme/api/check-runs',
    ]);
    expect(forge.asked.at(-1)?.body).toMatchObject({ name: 'muster', head_sha: a });
    expect((await connectionNow()).lastError).toBeNull();
  });
});

describe('an app that came to nothing', () => {
  it.each([
    ['whose code GitHub does not know', { status: 404, json: { message: 'Not Found' } }, 'Not Found'],
    ['without what GitHub documents', { status: 201, json: { id: 1 } }, 'html_url'],
  ])('%s leaves the connection as it was, and says so', async (_what, how, words) => {
    forge.answer(how);
    await exchangeCode();
    await settle();
    const { credentialsKind, appUrl, lastError } = await connectionNow();
    expect([credentialsKind, appUrl, lastError?.doing]).toEqual([null, null, 'makeApp']);
    expect(lastError?.message).toContain(words);
    answerAsGitHub(forge);
    await exchangeCode();
    await settle();
    expect(await connectionNow()).toMatchObject({ credentialsKind: 'app', lastError: null });
  });

  it('because the connection has credentials by then changes nothing', async () => {
    await exchangeCode();
    await people.ana.forges.update({ connectionId, credentials: { token: 'ghp_1' } });
    await settle();
    expect(forge.asked).toEqual([]);
    expect(await connectionNow()).toMatchObject({ credentialsKind: 'token', appUrl: null });
  });
});
