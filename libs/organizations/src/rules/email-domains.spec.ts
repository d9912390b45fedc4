import { describe, expect, it } from '@jest/globals';
import { isAllowedAddress } from './email-domains.ts';

describe('allowed domains of addresses', () => {
  it.each([
    ['ana@acme.example', [], true],
    ['ana@acme.example', ['acme.example'], true],
    ['ana@ACME.example', ['other.example', 'Acme.Example'], true],
    ['ana@mail.acme.example', ['acme.example'], false],
    ['ana@notacme.example', ['acme.example'], false],
    ['ana@acme.example.evil.example', ['acme.example'], false],
  ])('lets %s in by %j: %s', (email, domains, allowed) => {
    expect(isAllowedAddress(email, domains)).toBe(allowed);
  });
});
