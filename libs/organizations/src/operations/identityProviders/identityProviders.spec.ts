import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';
import { createIdentityProviderHandlers } from './handlers.ts';

const secretCipher = createSecretCipher(['a key of this installation, for specs']);
const world = useWorld({
  ...organizationsHandlers,
  identityProviders: createIdentityProviderHandlers({
    ...{ seals: secretCipher, baseUrl: 'https://muster.example', networks: parseNetworks('10.0.0.0/8') },
  }),
});
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

const okta = { issuer: 'https://acme.okta.example', clientId: 'muster', domains: ['Acme.example'] };
const add = (more: object = {}) => people.ana.identityProviders.upsert({ ...okta, ...more });
const listRequestedChecks = async (): Promise<unknown[]> =>
  (
    await world.rows<{ payload: unknown }>(
      `select payload from outbox where org_id = $1 and topic = 'identityProvider.check' order by id`,
      people.orgId,
    )
  ).map(({ payload }) => payload);
const prove = (domain: string) =>
  world.rows(
    'update identity_provider_domains set proven_at = now() where org_id = $1 and domain = $2',
    ...[people.orgId, domain],
  );
const secretOf = async (id: string): Promise<string | null | undefined> => {
  const [row] = await world.rows<{ secret: Buffer | null; key: Buffer }>(
    'select p.secret, s.cursor_key as key from identity_providers p join streams s on s.org_id = p.org_id where p.id = $1',
    id,
  );
  if (row === undefined || row.secret === null) return null;
  return secretCipher.decrypt(
    { organizationKey: row.key, name: `identity provider ${id} secret` },
    row.secret,
  );
};

describe('identityProviders.upsert', () => {
  it('makes one, says what to enter at the issuer and in the DNS, and has it tested', async () => {
    const { provider } = await add({ clientSecret: 'hunter2' });
    expect(provider).toMatchObject({
      ...{ name: 'acme.okta.example', issuer: okta.issuer, clientId: 'muster', hasSecret: true, version: 1 },
      ...{ redirectUrl: `https://muster.example/auth/issuer/${people.orgId}`, check: null },
      domains: [{ domain: 'acme.example', provenAt: null, record: { name: '_muster.acme.example' } }],
      trustsAddresses: false,
    });
    expect(provider.domains[0]?.record.value).toMatch(/^muster-domain-proof=[\w-]{43}$/);
    expect(await listRequestedChecks()).toEqual([{ providerId: provider.id }]);
    expect((await people.ben.identityProviders.list()).items).toEqual([provider]);
  });

  it('keeps the secret sealed, and shows it nowhere', async () => {
    const { provider } = await add({ clientSecret: 'hunter2' });
    expect(await secretOf(provider.id)).toBe('hunter2');
    const [row] = await world.rows<{ secret: Buffer }>(
      'select secret from identity_providers where id = $1',
      provider.id,
    );
    expect(row?.secret.includes('hunter2')).toBe(false);
    expect(JSON.stringify([provider, await people.ana.identityProviders.list()])).not.toContain('hunter2');
  });

  it('changes the one of this issuer and client, keeps what is left out, and what is proven', async () => {
    const { provider } = await add({ clientSecret: 'hunter2', name: 'Acme' });
    await prove('acme.example');
    const { provider: changed } = await add({
      domains: ['acme.example', 'acme.test'],
      trustsAddresses: true,
    });
    expect(changed).toMatchObject({
      ...{ id: provider.id, name: 'Acme', hasSecret: true, trustsAddresses: true, version: 2 },
      domains: [
        { domain: 'acme.example', provenAt: expect.any(String) },
        { domain: 'acme.test', provenAt: null },
      ],
    });
    expect(await secretOf(provider.id)).toBe('hunter2');
    const { provider: less } = await add({ domains: ['acme.test'], clientSecret: null, expectedVersion: 2 });
    expect(less).toMatchObject({ hasSecret: false, domains: [{ domain: 'acme.test' }] });
    await expect(add({ expectedVersion: 2 })).rejects.toMatchObject({ reason: 'version_mismatch' });
  });

  it('does not send the secret of one issuer to another that is named in its place', async () => {
    const { provider } = await add({ clientSecret: 'hunter2' });
    const { provider: moved } = await add({
      ...{ providerId: provider.id, issuer: 'https://evil.example' },
    });
    expect(moved).toMatchObject({ id: provider.id, issuer: 'https://evil.example', hasSecret: false });
    expect(await secretOf(provider.id)).toBeNull();
  });

  it('refuses another one that is the same, one that is not there, and the twenty-first', async () => {
    const { provider } = await add();
    const { provider: other } = await add({ clientId: 'other' });
    await expect(add({ providerId: other.id })).rejects.toMatchObject({ reason: 'already_exists' });
    await expect(add({ clientId: 'third', expectedVersion: 1 })).rejects.toMatchObject({ status: 404 });
    const { ana: stranger } = await world.org();
    await expect(
      stranger.identityProviders.upsert({ ...okta, providerId: provider.id }),
    ).rejects.toMatchObject({ status: 404 });
    for (let n = 2; n < 20; n += 1) await add({ clientId: `client ${n}` });
    await expect(add({ clientId: 'one more' })).rejects.toMatchObject({
      reason: 'limit_exceeded',
      body: { details: { max: 20 } },
    });
  });

  it.each([
    ['plain http outside the networks that the operator allowed', 'http://login.example:8080'],
    ['an address of this machine', 'https://127.0.0.1'],
    ['an address of a private network', 'https://192.168.1.1'],
    ['a name and a password', 'https://ana:secret@login.example'],
  ])('asks nothing at %s', async (_, issuer) => {
    await expect(add({ issuer })).rejects.toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'issuer' }] } },
    });
  });

  it.each([
    'https://login.example/.well-known/openid-configuration',
    'https://login.example?a=b',
    'login',
    '',
  ])('takes %p for no issuer', async (issuer) => {
    await expect(add({ issuer })).rejects.toMatchObject({ status: 400 });
  });

  it('takes one in a network that the operator named', async () => {
    expect((await add({ issuer: 'https://10.1.2.3' })).provider.issuer).toBe('https://10.1.2.3');
  });

  it('gives a domain the same record again, and another organization another one', async () => {
    const record = async (who = people.ana) =>
      (await who.identityProviders.upsert(okta)).provider.domains[0]?.record.value;
    const first = await record();
    const [{ id } = { id: '' }] = (await people.ana.identityProviders.list()).items;
    await people.ana.identityProviders.delete({ providerId: id });
    expect(await record()).toBe(first);
    expect(await record((await world.org()).ana)).not.toBe(first);
  });

  it('is for admins, by themselves', async () => {
    await expect(people.chloe.identityProviders.upsert(okta)).rejects.toMatchObject({ status: 403 });
    const agent = await world.token(people.orgId, people.ana.me.memberId, {
      scopes: ['admin'],
      agent: 'Bot',
    });
    await expect(agent.identityProviders.upsert(okta)).rejects.toMatchObject({ reason: 'agents_may_not' });
  });
});

describe('identityProviders.test', () => {
  it('asks a worker, and shows no result of before', async () => {
    const { provider } = await add();
    await world.rows(
      `update identity_providers set checked_at = now(), problem = 'away' where id = $1`,
      provider.id,
    );
    expect((await people.ana.identityProviders.list()).items[0]?.check).toMatchObject({ problem: 'away' });
    const { provider: tested } = await people.ana.identityProviders.test({ providerId: provider.id });
    expect(tested).toMatchObject({ check: null, version: 1 });
    expect((await people.ana.identityProviders.list()).items[0]?.check).toBeNull();
    expect(await listRequestedChecks()).toHaveLength(2);
  });
});

describe('identityProviders.delete', () => {
  it('removes it, and is refused while the policy lets in only who came by it', async () => {
    const { provider } = await add();
    const providerId = provider.id;
    await prove('acme.example');
    await people.ana.policy.update({ allowedIdentityProviders: [providerId] });
    await expect(people.ana.identityProviders.delete({ providerId })).rejects.toMatchObject({
      reason: 'policy',
      body: { details: { unmet: [{ gate: 'allowedIdentityProviders' }] } },
    });
    await people.ana.policy.update({ allowedIdentityProviders: null });
    expect(await people.ana.identityProviders.delete({ providerId })).toEqual({ deleted: true });
    await expect(people.ana.identityProviders.delete({ providerId })).rejects.toMatchObject({ status: 404 });
    expect((await people.ana.identityProviders.list()).items).toEqual([]);
  });
});

describe('policy.update', () => {
  it('asks for no issuer that speaks for no proven domain, and for none of another organization', async () => {
    const { provider } = await add();
    const ask = (who = people.ana) => who.policy.update({ allowedIdentityProviders: [provider.id] });
    const refused = {
      reason: 'policy',
      body: { details: { unmet: [{ gate: 'allowedIdentityProviders', unprovenAt: [0] }] } },
    };
    await expect(ask()).rejects.toMatchObject(refused);
    await prove('acme.example');
    await expect(ask((await world.org()).ana)).rejects.toMatchObject(refused);
    expect((await ask()).policy.allowedIdentityProviders).toEqual([provider.id]);
  });
});
