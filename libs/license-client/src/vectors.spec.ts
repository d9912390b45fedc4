/** Runs the test vectors for clients in other languages against this client. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type AirGapRequest, parseAirGapAnswer, formatAirGapRequest } from './air-gap.ts';
import { type CertificateKind, isCertificateOfMachine, readCertificate } from './certificate.ts';
import { type ClockState, currentTimeMillis } from './clock.ts';
import { createKeyRing } from './key-ring.ts';
import { type PublicKey } from './public-key.ts';
import { contentDigestOf, verifiedSignatureSeconds } from './signed-answer.ts';

const readVectors = (name: string): unknown =>
  JSON.parse(
    readFileSync(path.join(import.meta.dirname, '../../../clients/vectors', `${name}.json`), 'utf8'),
  );

interface NamedCase {
  readonly name: string;
}

interface Certificates {
  readonly publicKeys: readonly PublicKey[];
  readonly cases: readonly (NamedCase & {
    readonly certificate: string;
    readonly machineId: string;
    readonly nowSeconds: number;
    readonly outcome: 'valid' | 'not_genuine' | 'other_machine' | 'ended';
    readonly payload?: object;
  })[];
}

describe.each([
  ['a certificate', 'certificates', 'lic1'],
  ['a trial’s certificate', 'trials', 'trial1'],
] as const)('%s', (_, file, kind: CertificateKind) => {
  const { publicKeys, cases } = readVectors(file) as Certificates;
  it.each(cases)('$name: $outcome', ({ certificate, machineId, nowSeconds, outcome, payload }) => {
    const read = readCertificate(certificate, createKeyRing(publicKeys), kind);
    const found =
      read === undefined
        ? 'not_genuine'
        : !isCertificateOfMachine(read, machineId)
          ? 'other_machine'
          : nowSeconds >= read.exp
            ? 'ended'
            : 'valid';
    expect(found).toBe(outcome);
    if (payload !== undefined) expect(read).toMatchObject(payload);
  });
});

const airGap = readVectors('air-gap') as {
  readonly publicKeys: readonly PublicKey[];
  readonly requests: readonly (NamedCase & AirGapRequest & { readonly text: string })[];
  readonly answers: readonly (NamedCase & {
    readonly request: AirGapRequest;
    readonly answer: string;
    readonly outcome: string;
    readonly certificate?: string;
    readonly isFinal?: boolean;
    readonly message?: string;
  })[];
};

const payloadOf = (text: string): unknown =>
  JSON.parse(Buffer.from(text.replace(/^licreq1\./, ''), 'base64url').toString());

describe('a request that people carry', () => {
  it.each(airGap.requests)('$name', ({ name: _, text, ...request }) => {
    const written = formatAirGapRequest(request);
    expect(written).toMatch(/^licreq1\.[A-Za-z0-9_-]+$/);
    expect(payloadOf(written)).toEqual(payloadOf(text));
  });
});

describe('an answer that people carried', () => {
  it.each(airGap.answers)(
    '$name: $outcome',
    ({ request, answer, outcome, certificate, isFinal, message }) => {
      const found = parseAirGapAnswer(request, answer, createKeyRing(airGap.publicKeys));
      if (found.kind === 'granted') {
        expect(outcome).toBe('granted');
        expect(found.text).toBe(certificate);
        return;
      }
      expect(found.refused.reason).toBe(outcome);
      expect(found.isOwn).toBe(isFinal !== undefined);
      if (isFinal !== undefined) expect(found.refused).toMatchObject({ isFinal, message });
    },
  );
});

const answers = readVectors('answers') as {
  readonly publicKeys: readonly PublicKey[];
  readonly cases: readonly (NamedCase & {
    readonly question: {
      readonly method: string;
      readonly target: string;
      readonly body: string | null;
      readonly nonce: string;
    };
    readonly answer: {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    };
    readonly signedAt: number | null;
  })[];
};

describe('an answer', () => {
  it.each(answers.cases)('$name', ({ question: { body, ...question }, answer, signedAt: expected }) => {
    const found = verifiedSignatureSeconds(
      { ...answer, body: Buffer.from(answer.body) },
      { ...question, digest: body === null ? undefined : contentDigestOf(body) },
      createKeyRing(answers.publicKeys),
    );
    expect(found ?? null).toBe(expected);
  });
});

const clock = readVectors('clock') as {
  readonly cases: readonly (NamedCase & {
    readonly seen: ClockState;
    readonly clockMillis: number;
    readonly writtenMillis: number;
    readonly now: number | null;
  })[];
};

describe('a clock', () => {
  it.each(clock.cases)('$name', ({ seen, clockMillis, writtenMillis, now }) => {
    expect(currentTimeMillis(seen, { clockMillis, writtenMillis }) ?? null).toBe(now);
  });
});
