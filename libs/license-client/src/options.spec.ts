import { expect, it } from '@jest/globals';
import { type LicenseClientOptions, settingsOf } from './options.ts';

const validOptions = { url: 'https://licenses.example.com', product: 'demo' };
const publicKeys = [{ kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'k' }] as const;

it.each<[string, Partial<LicenseClientOptions>]>([
  ['a path, which is not signed', { url: 'https://example.com/licenses' }],
  ['a query', { url: 'https://example.com/?a' }],
  ['another protocol', { url: 'ftp://example.com' }],
  ['http over the network, where anybody could answer', { url: 'http://licenses.example.com' }],
  ['no name', { product: '' }],
  ['a name that is a path', { product: '../demo' }],
  ['no keys', { publicKeys: [] }],
  ['no time', { patienceSeconds: Number.NaN }],
])('refuses %s', (_what, options) => {
  expect(() => settingsOf({ ...validOptions, ...options })).toThrow(TypeError);
});

it.each<Partial<LicenseClientOptions>>([
  {},
  { url: 'http://127.0.0.1:4102' },
  { url: 'http://localhost:4102/' },
  { url: 'http://licenses.example.com', publicKeys },
  { patienceSeconds: 0 },
])('takes %j', (options) => {
  expect(settingsOf({ ...validOptions, ...options }).folder).toContain('demo');
});
