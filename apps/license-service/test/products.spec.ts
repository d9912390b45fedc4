/** Tests that several products in one service are isolated from each other. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { areConfusablePrefixes, type FormattedKey, generateKey, parseKey } from '../src/key/key.ts';
import { type SigningPublicKey } from '../src/signing/signing-key.ts';
import { listSigningKeys, createSigningKey, retireSigningKey } from '../src/operators/signing-keys.ts';
import { listPlans, setPlan } from '../src/operators/plans.ts';
import { makeProduct } from '../src/operators/products.ts';
import { issueLicenses } from '../src/operators/issue.ts';
import { countLicensesByPlan } from '../src/operators/trail.ts';
import { replaceKey } from '../src/operators/change.ts';
import { type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';
import { type LicenseWorld, openLicenseWorld, type RunningService } from './world.ts';

const acme = { name: 'acme', keyPrefix: 'ACME1' };
const zeta = { name: 'zeta', keyPrefix: 'ZETA9' };
const machine = 'machine-of-ana-0001';

let world: LicenseWorld;
let service: RunningService;
beforeAll(async () => {
  world = await openLicenseWorld();
  for (const product of [acme, zeta])
    await world.asOperator((ask) => makeProduct(ask, { ...product, seal: world.seal }));
  service = await world.start();
});
afterAll(() => world.close());

const kidOf = ({ headers }: { headers: Headers }): string =>
  /keyid="([^"]+)"/.exec(headers.get('signature-input') ?? '')?.[1] ?? '';

const kidsOf = async (product?: string): Promise<string[]> => {
  const { json } = await service.call(
    `/.well-known/license-keys.json${product === undefined ? '' : `?product=${product}`}`,
  );
  return (json['keys'] as SigningPublicKey[]).map(({ kid }) => kid);
};

describe('the keys of a product', () => {
  it('begin with its prefix, and are read without it', async () => {
    const { key } = await world.issue({ product: 'acme' });
    expect(key).toMatch(/^ACME1-/);
    expect((await service.activate(key.slice('ACME1-'.length), machine)).json).toMatchObject({
      license: { key, activated: true },
    });
  });

  it('are nothing to a program of another', async () => {
    const { key } = await world.issue({ product: 'acme' });
    const of = (product: string) => ({ 'license-product': product });
    for (const answer of [
      await service.activate(key, machine, of('zeta')),
      await service.check(key, machine, of('zeta')),
    ]) {
      expect([answer.status, answer.json['details']]).toEqual([
        404,
        expect.objectContaining({ reason: 'unknown_license_key' }),
      ]);
      expect(await kidsOf('zeta')).toContain(kidOf(answer));
    }
    expect((await service.activate(key, machine, of('acme'))).status).toBe(200);
    expect(await service.activate(key, machine, of('nobody'))).toMatchObject({
      status: 400,
      json: { details: { issues: [{ path: 'License-Product', message: 'is unknown' }] } },
    });
  });

  it('rotate within it', async () => {
    const { id } = await world.issue({ product: 'zeta' });
    const { key } = await world.asOperator((ask) => replaceKey(ask, { id }));
    expect(key).toMatch(/^ZETA9-/);
  });

  it('are told apart without their prefixes, and a typo in one is located', () => {
    const prefixes = ['MSTR1', acme.keyPrefix, zeta.keyPrefix];
    for (let round = 0; round < 200; round += 1) {
      const key = generateKey(prefixes[round % 3]);
      expect(parseKey(key.slice(6), prefixes)).toEqual({ kind: 'key', key });
      const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
      expect(parseKey(wrong, prefixes)).toMatchObject({ kind: 'typo', position: 30, perhaps: key.at(-1) });
    }
  });

  it('are never of a prefix whose bare keys could be those of another', async () => {
    const alphabet = Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ');
    const twins = alphabet.flatMap((a) =>
      alphabet.flatMap((b) => alphabet.map((c) => `A${a}${b}${c}1`).filter((one) => one !== 'ACME1')),
    );
    const twin = twins.find((one) => areConfusablePrefixes(one, 'ACME1')) ?? '';
    const key = generateKey(twin);
    // A key of this product, typed without its prefix, would be a valid key of the product acme.
    expect(parseKey(key.slice(6), ['ACME1'])).toEqual({
      kind: 'key',
      key: `ACME1${key.slice(5)}` as FormattedKey,
    });
    const made = world.asOperator((ask) =>
      makeProduct(ask, { name: 'twin', keyPrefix: twin, seal: world.seal }),
    );
    await expect(made).rejects.toThrow('could be mistaken for one of acme');
  });
});

describe('signing keys', () => {
  it('are each product’s own, published for it alone', async () => {
    const [own, others, usual] = [await kidsOf('acme'), await kidsOf('zeta'), await kidsOf()];
    expect(own).toHaveLength(1);
    expect(new Set([...own, ...others, ...usual]).size).toBe(3);
    const { key } = await world.issue({ product: 'acme' });
    const answer = await service.activate(key, machine);
    const [, body = ''] = (answer.headers.get('license-certificate') ?? '').split('.');
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toMatchObject({
      ...{ kid: own[0], product: 'acme' },
    });
    expect(kidOf(answer)).toBe(own[0]);
    expect((await service.call('/.well-known/license-keys.json?product=nobody')).status).toBe(404);
  });

  it('change without those of others', async () => {
    const before = await kidsOf('acme');
    const { kid } = await world.asOperator((ask) =>
      createSigningKey(ask, world.seal, { inSeconds: 0, product: 'zeta' }),
    );
    await service.refreshKeys();
    const { key } = await world.issue({ product: 'zeta' });
    expect(kidOf(await service.activate(key, machine))).toBe(kid);
    expect(await kidsOf('acme')).toEqual(before);
    const [last = ''] = before;
    // A signing key of another product does not replace the key that is retired.
    await expect(
      world.asOperator((ask) => retireSigningKey(ask, { kid: last, publishedSeconds: 0 })),
    ).rejects.toThrow('no other signing key');
    const states = await world.asOperator((ask) => listSigningKeys(ask));
    expect(states.filter(({ state }) => state === 'current')).toHaveLength(3);
  });
});

describe('plans and orders', () => {
  it('of one name are two', async () => {
    const terms = { name: 'twice', term: { kind: 'perpetual' }, transferLimit: 1 } as const;
    await world.asOperator((ask) => setPlan(ask, { ...terms, product: 'acme', features: { export: true } }));
    await world.asOperator((ask) => setPlan(ask, { ...terms, product: 'zeta', features: { seats: 2 } }));
    const featuresOf = async (product: string): Promise<unknown> => {
      const { key } = await world.issue({ product, plan: 'twice', orderRef: 'sale-of-both' });
      const { headers } = await service.activate(key, machine);
      const [, body = ''] = (headers.get('license-certificate') ?? '').split('.');
      return (JSON.parse(Buffer.from(body, 'base64url').toString()) as { features: unknown }).features;
    };
    expect([await featuresOf('acme'), await featuresOf('zeta')]).toEqual([{ export: true }, { seats: 2 }]);
    expect((await world.asOperator((ask) => listPlans(ask, 'acme'))).map(({ name }) => name)).toContain(
      'twice',
    );
  });

  it('of one name are counted apart', async () => {
    for (const product of ['acme', 'zeta']) await world.issue({ product, plan: 'counted' });
    const figures = await world.asOperator(countLicensesByPlan);
    expect(figures.filter(({ plan }) => plan === 'counted')).toMatchObject([
      { product: 'acme', issued: 1 },
      { product: 'zeta', issued: 1 },
    ]);
  });

  it('of one sale are issued once, however many ask at once', async () => {
    const asked = { product: 'acme', plan: 'pro', orderRef: 'at-once', term: { kind: 'perpetual' } } as const;
    const made = await Promise.all(
      Array.from({ length: 4 }, () => world.asOperator((ask) => issueLicenses(ask, asked))),
    );
    expect(new Set(made.map(({ licenses: [one] }) => one?.id)).size).toBe(1);
    expect(made.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
  });
});

describe('a program', () => {
  let machines: Machines;
  beforeAll(async () => {
    machines = await openMachines();
    const { world: its } = machines;
    await its.asOperator((ask) => makeProduct(ask, { ...acme, seal: its.seal }));
    await machines.refresh();
  });
  afterAll(() => machines.close());

  it('of a product runs by its keys, and by those of no other', async () => {
    const { key } = await machines.world.issue({ product: 'acme' });
    const own = machines.install({ serviceProduct: 'acme' });
    expect(await own.activate(key)).toMatchObject({ mayRun: true });
    machines.middle.alterAnswer = dropAnswer;
    expect(await own.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    machines.middle.resetAlterations();
    const { key: usual } = await machines.world.issue();
    expect(await own.activate(usual)).toMatchObject({ mayRun: false, reason: 'unknown_license_key' });
    // A client without a product belongs to the default product and does not trust the signing keys of others.
    expect(await machines.install().activate(key)).toMatchObject({ mayRun: false, reason: 'untrusted' });
  });
});
