/** The worker checks OpenID Connect issuers and DNS records, using real local servers. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdentityProviderHandlers, organizationsHandlers } from '@muster/organizations';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { createMailer, type Mailer } from '@muster/outbound/mail';
import { createSender, type Sender } from '@muster/outbound/sender';
import { type IdentityProvider } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { decode, encode } from 'dns-packet';
import { pino } from 'pino';
import PostalMime, { type Email } from 'postal-mime';
import { mailMissingDomain } from '../src/deliver.ts';
import { requestAllProviderChecks, checkIdentityProvider } from '../src/identity-providers.ts';
import { type OutboxHarness, openOutboxHarness, waitUntil } from './line.ts';

const seals = createSecretCipher([]);
const networks = parseNetworks('127.0.0.0/8:*');
const world = useWorld({
  ...organizationsHandlers,
  identityProviders: createIdentityProviderHandlers({ seals, baseUrl: 'https://muster.example', networks }),
});
let people: PeopleOf<typeof world>;
let issuerServer: Server;
let issuer = '';
/** Returns the issuer's metadata document; null simulates an error. */
let metadata: ((own: string) => object) | null;
let dns: Socket;
/** DNS records by name; null simulates a failing server. */
let records: Map<string, string> | null;
let sender: Sender;
let outboxHarness: OutboxHarness;
/** Folder for e-mails. */
let folder: string;
let mailer: Mailer;

const defaultMetadata = (own: string): object => ({
  issuer: own,
  authorization_endpoint: `${own}/authorize`,
  token_endpoint: `${own}/token`,
  jwks_uri: `${own}/jwks`,
});

/** Answers TXT queries, with each text split into two strings as long texts are. */
function answer(message: Buffer, port: number): void {
  const { id, questions = [] } = decode(message);
  const name = questions[0]?.name ?? '';
  const text = records?.get(name.toLowerCase());
  const code = records === null ? 2 : text === undefined ? 3 : 0;
  const answers =
    text === undefined
      ? []
      : [
          {
            type: 'TXT' as const,
            name,
            ttl: 0,
            data: [text.slice(0, 9), text.slice(9)].map((piece) => Buffer.from(piece)),
          },
        ];
  dns.send(encode({ type: 'response', id: id ?? 0, flags: code, questions, answers }), port, '127.0.0.1');
}

beforeAll(async () => {
  issuerServer = createServer((request, response) => {
    const isKnown = request.url === '/.well-known/openid-configuration' && metadata !== null;
    response.writeHead(isKnown ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify(metadata?.(issuer) ?? {}));
  }).listen(0, '127.0.0.1');
  await once(issuerServer, 'listening');
  issuer = `http://127.0.0.1:${(issuerServer.address() as AddressInfo).port}`;
  dns = createSocket('udp4').bind(0, '127.0.0.1');
  await once(dns, 'listening');
  dns.on('message', (message, { port }) => {
    answer(message, port);
  });
  sender = createSender({ networks });
  outboxHarness = openOutboxHarness(world);
  folder = await mkdtemp(path.join(tmpdir(), 'muster-domains-'));
  mailer = createMailer({ folder }, 'Muster <muster@acme.example>', pino({ level: 'silent' }));
  outboxHarness.startWorkers({
    'identityProvider.check': checkIdentityProvider({
      ...{ sender, seals, dnsServers: [`127.0.0.1:${dns.address().port}`] },
    }),
    'domain.mail': mailMissingDomain({ mailer, baseUrl: 'https://muster.example' }),
  });
});
afterAll(async () => {
  await outboxHarness.close();
  mailer.close();
  await rm(folder, { recursive: true });
  sender.close();
  dns.close();
  issuerServer.close();
});
beforeEach(async () => {
  people = await world.org();
  metadata = defaultMetadata;
  records = new Map();
});

/** Waits until a worker has checked the provider, and returns it. */
async function runProviderCheck(): Promise<IdentityProvider> {
  let found: IdentityProvider | undefined;
  await waitUntil(async () => {
    await outboxHarness.runRelayTurn();
    [found] = (await people.ana.identityProviders.list()).items;
    return found?.check != null;
  });
  if (found === undefined) throw new Error('there is no provider');
  return found;
}
const add = async (more: object = {}): Promise<IdentityProvider> => {
  const wanted = { issuer, clientId: 'muster', domains: ['acme.example', 'acme.test'], ...more };
  return (await people.ana.identityProviders.upsert(wanted)).provider;
};
const testAgain = async (): Promise<IdentityProvider> => {
  const [{ id } = { id: '' }] = (await people.ana.identityProviders.list()).items;
  await people.ana.identityProviders.test({ providerId: id });
  return runProviderCheck();
};
/** Returns the e-mails that arrived since the last call, sorted by recipient. */
async function readMails(): Promise<Email[]> {
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(people.orgId)).every(({ done }) => done));
  const files = await readdir(folder);
  const read = await Promise.all(
    files.map(async (file) => PostalMime.parse(await readFile(path.join(folder, file)))),
  );
  await Promise.all(files.map((file) => rm(path.join(folder, file))));
  return read.toSorted((a, b) => ((a.to?.[0]?.address ?? '') < (b.to?.[0]?.address ?? '') ? -1 : 1));
}
const write = ({ domains }: IdentityProvider, wanted: string): void => {
  const record = domains.find(({ domain }) => domain === wanted)?.record;
  if (record === undefined) throw new Error(`there is no ${wanted}`);
  records?.set(record.name, record.value);
};
const provenDomainsOf = ({ domains }: IdentityProvider): string[] =>
  domains.filter(({ provenAt }) => provenAt !== null).map(({ domain }) => domain);

describe('an issuer', () => {
  it('that answers as it should has no problem', async () => {
    await add({ clientSecret: 'hunter2' });
    expect((await runProviderCheck()).check).toEqual({ at: expect.any(String), problem: null });
  });

  it.each<[string, typeof metadata, RegExp]>([
    ['that is away', null, /could not be read/],
    [
      'that calls itself otherwise',
      (own) => ({ ...defaultMetadata(own), issuer: `${own}/` }),
      /names another issuer: http/,
    ],
    ['without keys', (own) => ({ ...defaultMetadata(own), jwks_uri: undefined }), /has no jwks_uri/],
    [
      'that would send people to a script',
      (own) => ({ ...defaultMetadata(own), authorization_endpoint: 'javascript:alert(1)' }),
      /authorization_endpoint in its metadata is not an https URL/,
    ],
  ])('%s has one, which is said', async (_, answered, problem) => {
    metadata = answered;
    await add();
    expect((await runProviderCheck()).check?.problem).toMatch(problem);
    metadata = defaultMetadata;
    expect((await testAgain()).check?.problem).toBeNull();
  });

  it('is not asked in a network that the operator did not name', async () => {
    await add();
    const narrow = createSender({ networks: [] });
    const own = openOutboxHarness(world);
    own.startWorkers({
      'identityProvider.check': checkIdentityProvider({ sender: narrow, seals, dnsServers: [] }),
    });
    await waitUntil(async () => {
      await own.runRelayTurn();
      return (await people.ana.identityProviders.list()).items[0]?.check != null;
    });
    const [found] = (await people.ana.identityProviders.list()).items;
    expect(found?.check?.problem).toMatch(/not sent: the address points to/);
    await own.close();
    narrow.close();
  });

  it('has a problem where no key opens its secret', async () => {
    await add({ clientSecret: 'hunter2' });
    await world.rows(
      `update identity_providers set secret = 'of another key' where org_id = $1`,
      people.orgId,
    );
    expect((await runProviderCheck()).check?.problem).toMatch(/SECRETS_KEY/);
  });
});

describe('a domain', () => {
  it('is proven once its record is there, and the issuer need not answer for that', async () => {
    metadata = null;
    write(await add(), 'acme.example');
    const found = await runProviderCheck();
    expect(provenDomainsOf(found)).toEqual(['acme.example']);
    write(found, 'acme.test');
    expect(provenDomainsOf(await testAgain())).toEqual(['acme.example', 'acme.test']);
  });

  it('is not proven by the record of another organization', async () => {
    const provider = await add();
    const own = people;
    people = await world.org();
    write(await add(), 'acme.example');
    people = own;
    expect(provenDomainsOf(await runProviderCheck())).toEqual([]);
    write(provider, 'acme.example');
    expect(provenDomainsOf(await testAgain())).toEqual(['acme.example']);
  });

  /** Sets how long the provider's record has been missing. */
  const missedFor = (days: number) =>
    world.rows(
      `update identity_provider_domains set missing_since = now() - make_interval(secs => $2) where org_id = $1`,
      people.orgId,
      days * 86_400,
    );
  const missingOf = ({ domains }: IdentityProvider) => domains.map(({ missingSince }) => missingSince);

  it('whose record is gone counts for seven days more, and its owner and admins hear of both', async () => {
    write(await add({ domains: ['acme.example'] }), 'acme.example');
    expect(missingOf(await runProviderCheck())).toEqual([null]);
    records?.clear();
    const first = await testAgain();
    expect([provenDomainsOf(first), missingOf(first)]).toEqual([['acme.example'], [expect.any(String)]]);
    const told = await readMails();
    expect(told.map(({ to }) => to?.[0]?.address)).toEqual(['ana@example.com', 'ben@example.com']);
    for (const { subject, text } of told) {
      expect(subject).toMatch(/stops working for acme\.example on /);
      expect(text).toContain(first.domains[0]?.record.value);
    }
    await missedFor(6.99);
    expect(provenDomainsOf(await testAgain())).toEqual(['acme.example']);
    expect(await readMails()).toEqual([]);
    await missedFor(7);
    expect(provenDomainsOf(await testAgain())).toEqual([]);
    expect((await readMails()).map(({ subject }) => subject)).toEqual(
      ['Ana', 'Ben'].map(() => expect.stringMatching(/no longer works for acme\.example/)),
    );
    expect(provenDomainsOf(await testAgain())).toEqual([]);
    expect(await readMails()).toEqual([]);
  });

  it('whose record is back counts as before, and its next absence begins anew', async () => {
    const provider = await add({ domains: ['acme.example'] });
    write(provider, 'acme.example');
    await runProviderCheck();
    records?.clear();
    await testAgain();
    await missedFor(6);
    write(provider, 'acme.example');
    const back = await testAgain();
    expect([provenDomainsOf(back), missingOf(back)]).toEqual([['acme.example'], [null]]);
    records?.clear();
    await missedFor(0);
    expect(provenDomainsOf(await testAgain())).toEqual(['acme.example']);
  });

  it('stays proven while the DNS fails, for however long', async () => {
    write(await add({ domains: ['acme.example'] }), 'acme.example');
    await runProviderCheck();
    records?.clear();
    await testAgain();
    await missedFor(30);
    records = null;
    expect(provenDomainsOf(await testAgain())).toEqual(['acme.example']);
  });

  it('is looked for by itself, of every organization, where it was proven once', async () => {
    write(await add({ domains: ['acme.example'] }), 'acme.example');
    await runProviderCheck();
    const own = people;
    people = await world.org();
    await add({ domains: ['other.example'] });
    const unproven = await runProviderCheck();
    people = own;
    records?.clear();
    await missedFor(8);
    await requestAllProviderChecks(world.database.app, new AbortController().signal);
    await waitUntil(async () => {
      await outboxHarness.runRelayTurn();
      const [found] = (await people.ana.identityProviders.list()).items;
      return found?.domains[0]?.provenAt === null;
    });
    const asked = await world.rows<{ n: number }>(
      `select count(*)::int as n from outbox where topic = 'identityProvider.check' and payload ->> 'providerId' = $1`,
      unproven.id,
    );
    expect(asked).toEqual([{ n: 1 }]);
  });

  it('that was taken out while it was looked at is proven for nothing', async () => {
    const provider = await add();
    write(provider, 'acme.example');
    await add({ domains: ['acme.test'] });
    expect(provenDomainsOf(await runProviderCheck())).toEqual([]);
  });
});
