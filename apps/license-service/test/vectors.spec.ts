/** The test vectors that clients are written against, run against what the service itself reads and makes. */
import { createPrivateKey, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseKey } from '../src/key/key.ts';
import { type CertificatePayload, readCertificate, signCertificate } from '../src/signing/certificate.ts';
import { type PublicKey, toKeyObject } from '../src/signing/signing-key.ts';

const vectors = (name: string): unknown => {
  const file = path.join(import.meta.dirname, '../../../libs/license-client/vectors', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
};

interface Named {
  readonly name: string;
}

const keys = vectors('keys') as { readonly cases: readonly (Named & { readonly typed: string })[] };

describe('a key as it is typed', () => {
  it.each(keys.cases)('$name', ({ name: _, typed, ...expected }) => {
    expect(parseKey(typed)).toEqual(expected);
  });
});

const certificates = vectors('certificates') as {
  readonly signingKey: JsonWebKey;
  readonly publicKeys: readonly PublicKey[];
  readonly cases: readonly (Named & {
    readonly certificate: string;
    readonly outcome: string;
    readonly payload?: CertificatePayload;
  })[];
};

describe('a certificate', () => {
  it.each(certificates.cases)('$name: is ours, or is none', ({ certificate, outcome, payload }) => {
    const read = readCertificate(certificate, (kid) => {
      const key = certificates.publicKeys.find((one) => one.kid === kid);
      return key && toKeyObject(key);
    });
    expect(read !== undefined).toBe(outcome !== 'not_genuine');
    if (payload !== undefined) expect(read).toEqual(payload);
  });

  it('is made byte by byte as the vectors have it', () => {
    const key = createPrivateKey({ format: 'jwk', key: certificates.signingKey });
    const made = certificates.cases.filter(({ name }) => !name.includes('not known yet'));
    for (const { certificate, payload } of made) {
      if (payload !== undefined) expect(signCertificate(key, payload)).toBe(certificate);
    }
  });
});
