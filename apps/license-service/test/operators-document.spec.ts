/** Tests that every operation of the operators' API answers exactly the fields of its OpenAPI document. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { setPlan } from '../src/operators/plans.ts';
import { makeToken } from '../src/operators/tokens.ts';
import { type LicenseWebhookReceiver, startReceiver } from './receiver.ts';
import { type LicenseWorld, noLimits, openLicenseWorld, type RunningService } from './world.ts';

const machine = 'machine-of-ana-0001';

let world: LicenseWorld;
let service: RunningService;
let receiver: LicenseWebhookReceiver;
let authorization: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  receiver = await startReceiver();
  const terms = { term: { kind: 'for', seconds: 86_400 }, transferLimit: 1, machineLimit: 1 } as const;
  await world.asOperator((ask) => setPlan(ask, { ...terms, product: 'default', name: 'pro' }));
  const scopes = ['read', 'issue', 'change', 'webhooks', 'publish'] as const;
  const { secret } = await world.asOperator((ask) => makeToken(ask, { name: 'spec', scopes: [...scopes] }));
  authorization = `Bearer ${secret}`;
  const environment = { ...noLimits, LIMIT_OPERATORS: '100000/1', WEBHOOK_NETWORKS: '127.0.0.0/8:*' };
  service = await world.start({ environment, webhookPollMillis: null });
});
afterAll(async () => {
  receiver.close();
  await world.close();
});

interface Document {
  readonly paths: Readonly<
    Record<string, { post: { responses: { 200: { content: { 'application/json': { schema: object } } } } } }>
  >;
}

/** Creates a checker that validates answers against the document and lists the operations that were not called. */
async function openDocument() {
  const { json } = await service.call('/api/operators/openapi.json');
  const { paths } = json as unknown as Document;
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false });
  const left = new Set(Object.keys(paths).map((path) => path.replace('/api/operators/', '')));
  const schemaOf = (path: string): object =>
    paths[`/api/operators/${path}`]?.post.responses[200].content['application/json'].schema ?? {};
  return {
    left,
    schemaOf,
    call: async <Found extends object>(path: string, params: object): Promise<Found> => {
      const answer = await service.post(`/api/operators/${path}`, params, { authorization });
      expect([path, answer.status, answer.text]).toEqual([path, 200, expect.any(String)]);
      const fits = ajv.compile(schemaOf(path));
      fits(answer.json);
      expect([path, fits.errors ?? []]).toEqual([path, []]);
      left.delete(path);
      return answer.json as Found;
    },
  };
}

it('has one document of the whole service at its root', async () => {
  const root = await service.call('/openapi.json');
  const { info, paths } = root.json as { info: { version: string }; paths: Record<string, object> };
  expect([root.status, root.json['openapi'], info.version]).toEqual([200, '3.1.0', '1.1.0']);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      ...['/api/activate', '/api/activate/check', '/api/activate/release', '/api/trials', '/api/usage'],
      '/api/releases/latest',
      ...['/.well-known/license-keys.json', '/api/operators/licenses/issue'],
    ]),
  );
  expect(await new Validator().validate(root.json)).toMatchObject({ valid: true });
});

it('answers what the document says, of every operation', async () => {
  const { call, left } = await openDocument();
  type Endpoint = { endpoint: { id: string } };
  const { endpoint } = await call<Endpoint>('webhooks/create', { url: receiver.url });
  const sale = { plan: 'pro', orderRef: 'A-1', customerRef: 'c-1', features: { export: true, seats: 5 } };
  const { licenses } = await call<{ licenses: { id: string; key: string }[] }>('licenses/issue', sale);
  const [{ id, key } = { id: '', key: '' }] = licenses;
  await service.activate(key, machine);
  await service.activate(key, 'another-machine');
  await call('licenses/get', { id });
  await call('licenses/list', {});
  await call('licenses/find', { orderRef: 'A-1' });
  await call('licenses/link', { id });
  await call('licenses/suspend', { id, reason: 'chargeback' });
  await call('licenses/resume', { id });
  await call('licenses/renew', { id, term: { for: '30d' }, orderRef: 'A-1-renewal' });
  await call('licenses/extend', { id, for: '7d' });
  await call('licenses/transfer', { id, machineId: 'machine-of-ben-0001' });
  await call('licenses/release', { id });
  await call('licenses/resize', { id, machineLimit: 3 });
  await call('licenses/entitle', { id, features: { export: false } });
  const meters = { exports: { limit: 5, period: 'month', overLimit: 'refuse' } };
  await call('licenses/setMeters', { id, meters });
  await call('licenses/usage', { id });
  await call('licenses/resetUsage', { id, meter: 'exports' });
  const asked = JSON.stringify({ licenseKey: key, machineId: machine, nonce: 'a-nonce-of-18-bytes' });
  const request = `licreq1.${Buffer.from(asked).toString('base64url')}`;
  expect(await call('licenses/answer', { request })).toMatchObject({ licenseId: id, refused: null });
  await call('licenses/revoke', { id });
  expect(await call('licenses/answer', { request })).toMatchObject({
    refused: { reason: 'license_revoked' },
  });
  const { events, denials } = await call<{ events: object[]; denials: object[] }>('licenses/history', { id });
  expect([events.length > 5, denials.length]).toEqual([true, 2]);

  const artifacts = [{ name: 'app.zip', platform: 'linux-x64', size: 1, sha256: 'a'.repeat(64) }];
  await call('releases/publish', { version: '1.0.0', notesUrl: 'https://example.com/1', artifacts });
  await call('releases/yank', { version: '1.0.0', reason: 'crashes' });
  await call('releases/list', {});

  await service.courier.send();
  await call('webhooks/list', {});
  const { items } = await call<{ items: { id: string }[] }>('webhooks/deliveries', { id: endpoint.id });
  await call('webhooks/redeliver', { id: items[0]?.id });
  await call('webhooks/update', { id: endpoint.id, kinds: ['issued'] });
  await call('webhooks/rotateSecret', { id: endpoint.id });
  await call('webhooks/dropOldSecret', { id: endpoint.id });
  await call('webhooks/test', { id: endpoint.id });
  await call('webhooks/delete', { id: endpoint.id });
  expect([...left]).toEqual([]);
});

it('says of every record of an answer that there is no field beyond, unless names are free', async () => {
  const { left, schemaOf } = await openDocument();
  const open: string[] = [];
  const look = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if ('properties' in schema && Reflect.get(schema, 'additionalProperties') !== false) open.push(at);
    for (const [name, part] of Object.entries(schema)) look(part, `${at}/${name}`);
  };
  for (const path of left) look(schemaOf(path), path);
  expect(open).toEqual([]);
});
