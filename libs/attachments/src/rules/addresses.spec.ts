import { describe, expect, it } from '@jest/globals';
import { type FileAddress, isValidSignature, signedPath } from './addresses.ts';

const key = Buffer.alloc(32, 7);
const address: FileAddress = {
  method: 'GET',
  orgId: '01936d5c-0000-7000-8000-000000000001',
  attachmentId: '01936d5c-0000-7000-8000-000000000002',
  expiresAtMillis: 1_000,
};
const signatureOf = (of: FileAddress) =>
  new URLSearchParams(signedPath(key, of).split('?')[1]).get('signature') ?? '';

describe('the signature of a file', () => {
  const signature = signatureOf(address);

  it('is valid until it expires', () => {
    expect(isValidSignature(key, address, signature, 1_000)).toBe(true);
    expect(isValidSignature(key, address, signature, 1_001)).toBe(false);
  });

  it.each<Partial<FileAddress>>([
    { method: 'PUT' },
    { orgId: address.attachmentId },
    { attachmentId: address.orgId },
    { expiresAtMillis: 2_000 },
  ])('is not valid for another address: %j', (other) => {
    expect(isValidSignature(key, { ...address, ...other }, signature, 0)).toBe(false);
  });

  it('is not valid with another key, shortened, or empty', () => {
    expect(isValidSignature(Buffer.alloc(32, 8), address, signature, 0)).toBe(false);
    expect(isValidSignature(key, address, signature.slice(1), 0)).toBe(false);
    expect(isValidSignature(key, address, '', 0)).toBe(false);
  });
});
