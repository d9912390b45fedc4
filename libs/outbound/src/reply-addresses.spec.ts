import { expect, it } from '@jest/globals';
import { createReplyAddresses } from './reply-addresses.ts';

const target = {
  orgId: '00000000-0000-7000-8000-00000000000f',
  notificationId: '01936d5c-0000-7000-8000-0000000000f1',
};
const organizationKey = Buffer.alloc(32, 1);
const addresses = createReplyAddresses('Reply.Muster.example', ['key of the installation']);
const address = addresses.addressOf(organizationKey, target);

it('names the notification in the 64 characters that mail allows, in any case', () => {
  expect(address).toMatch(/^[0-9a-v]{64}@Reply\.Muster\.example$/);
  for (const text of [address, address.toUpperCase(), address.toLowerCase()]) {
    const parsed = addresses.parse(text);
    expect(parsed).toMatchObject(target);
    expect(parsed !== undefined && addresses.isSigned(organizationKey, parsed)).toBe(true);
  }
});

it('is not signed for another notification, another organization or by another installation', () => {
  const parsed = addresses.parse(address);
  if (parsed === undefined) throw new Error('not parsed');
  const others = [
    { ...parsed, notificationId: '01936d5c-0000-7000-8000-0000000000f2' },
    { ...parsed, orgId: '00000000-0000-7000-8000-00000000000e' },
    { ...parsed, signature: Buffer.alloc(8) },
  ];
  for (const other of others) expect(addresses.isSigned(organizationKey, other)).toBe(false);
  expect(addresses.isSigned(Buffer.alloc(32, 2), parsed)).toBe(false);
  const changed = createReplyAddresses('x.example', ['another key']);
  expect(changed.isSigned(organizationKey, parsed)).toBe(false);
  // A rotated key still verifies addresses, and no key is none that anyone knows.
  const rotated = createReplyAddresses('x.example', ['another key', 'key of the installation']);
  expect(rotated.isSigned(organizationKey, parsed)).toBe(true);
  const unkeyed = createReplyAddresses('x.example', []);
  const own = unkeyed.parse(unkeyed.addressOf(organizationKey, target));
  expect(own !== undefined && unkeyed.isSigned(organizationKey, own)).toBe(true);
  expect(own !== undefined && addresses.isSigned(organizationKey, own)).toBe(false);
});

it.each([
  'ana@reply.muster.example',
  address.slice(1),
  `0${address}`,
  address.replace('@', '@evil.'),
  `${address}@evil.example`,
  address.replace(/^./, 'z'),
  '',
  '@',
])('is none: %s', (text) => {
  expect(addresses.parse(text)).toBeUndefined();
});
