/** Tests that the shared test vectors of the clients agree with the service. */
import { createPrivateKey, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAirGapRequest } from '../src/air-gap/request.ts';
import { parseKey } from '../src/key/key.ts';
import {
  type SignedCertificateKind,
  type CertificatePayload,
  readCertificate,
  signCertificate,
} from '../src/signing/certificate.ts';
import { type SigningPublicKey, toKeyObject } from '../src/signing/signing-key.ts';

const readVectors = (name: string): unknown => {
  const file = path.join(import.meta.dirname, '../../../clients/vectors', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
};

interface NamedCase {
  readonly name: string;
}

const keys = readVectors('keys') as { readonly cases: readonly (NamedCase & { readonly typed: string })[] };

describe('a key as it is typed', () => {
  it.each(keys.cases)('$name', ({ name: _, typed, ...expected }) => {
    expect(parseKey(typed)).toEqual(expected);
  });
});

interface Certificates {
  readonly signingKey: JsonWebKey;
  readonly publicKeys: readonly SigningPublicKey[];
  readonly cases: readonly (NamedCase & {
    readonly certificate: string;
    readonly outcome: string;
    readonly payload?: CertificatePayload;
  })[];
}

describe.each([
  ['a certificate', 'certificates', 'lic1'],
  ['a trial’s certificate', 'trials', 'trial1'],
] as const)('%s', (_, file, kind: SignedCertificateKind) => {
  const { signingKey, publicKeys, cases } = readVectors(file) as Certificates;

  it.each(cases)('$name: is ours, or is none', ({ certificate, outcome, payload }) => {
    const keyOf = (kid: string) => {
      const key = publicKeys.find((one) => one.kid === kid);
      return key && toKeyObject(key);
    };
    const read = readCertificate(certificate, keyOf, kind);
    expect(read !== undefined).toBe(outcome !== 'not_genuine');
    if (payload !== undefined) expect(read).toEqual(payload);
  });

  it('is made byte by byte as the vectors have it', () => {
    const key = createPrivateKey({ format: 'jwk', key: signingKey });
    const made = cases.filter(({ name }) => !name.includes('not known yet'));
    for (const { certificate, payload } of made) {
      if (payload !== undefined) expect(signCertificate(key, payload, kind)).toBe(certificate);
    }
  });
});

const { requests } = readVectors('air-gap') as {
  readonly requests: readonly (NamedCase & {
    readonly licenseKey: string;
    readonly machineId: string;
    readonly nonce: string;
    readonly text: string;
  })[];
};

describe('a request that people carry', () => {
  it.each(requests)('$name: is read as it was meant', ({ name: _, text, ...request }) => {
    expect(parseAirGapRequest(`  ${text}\r\n`)).toEqual(request);
  });
});
