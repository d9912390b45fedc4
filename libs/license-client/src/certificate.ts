/**
 * What is signed to be kept: `<kind>.<payload>.<signature>`, both base64url; the signature is Ed25519 over the bytes before the
 * second dot. Certificates are the right to run without the server on one machine until a time: `lic1` of a license, `trial1` of
 * a trial.
 */
import { createHash, verify } from 'node:crypto';
import { type Features, featuresIn } from './features.ts';
import { type KeyRing } from './key-ring.ts';

export interface Certificate {
  /** The id of the license, or of the trial. */
  readonly lic: string;
  readonly plan: string;
  readonly features: Features;
  /** SHA-256 of the machine's id, base64url. */
  readonly machine: string;
  /** From when and until when, in seconds since 1970. */
  readonly iat: number;
  readonly exp: number;
  readonly kid: string;
  /** Of a slot that is lent, for how many seconds each time; null where it is the machine's until it gives it up. */
  readonly lease: number | null;
}

export type CertificateKind = 'lic1' | 'trial1';

const objectIn = (base64url: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64url, 'base64url').toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The payload of a text of this kind that one of these keys signed; undefined for all else. */
export function readSigned(text: string, kind: string, ring: KeyRing): object | undefined {
  const [word, body, signature, ...rest] = text.split('.');
  if (word !== kind || body === undefined || signature === undefined || rest.length > 0) return undefined;
  const payload = objectIn(body);
  const { kid } = (payload ?? {}) as { kid?: unknown };
  const key = typeof kid === 'string' ? ring(kid) : undefined;
  if (payload === undefined || key === undefined) return undefined;
  const signed = Buffer.from(`${word}.${body}`);
  return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? payload : undefined;
}

function certificateIn(value: object): Certificate | undefined {
  const { lic, plan, features, machine, iat, exp, kid, lease } = value as Partial<
    Record<keyof Certificate, unknown>
  >;
  const isWhole =
    [lic, plan, machine, kid].every((one) => typeof one === 'string') &&
    [iat, exp].every((one) => Number.isSafeInteger(one));
  if (!isWhole) return undefined;
  const seconds = Number.isSafeInteger(lease) ? Number(lease) : null;
  return { ...(value as Certificate), features: featuresIn(features), lease: seconds };
}

/** What a certificate says that one of these keys signed; it may have ended since. Undefined for all else. */
export function readCertificate(
  text: string,
  ring: KeyRing,
  kind: CertificateKind = 'lic1',
): Certificate | undefined {
  const payload = readSigned(text, kind, ring);
  return payload && certificateIn(payload);
}

export const markOf = (machineId: string): string =>
  createHash('sha256').update(machineId).digest('base64url');

export const isOfMachine = (certificate: Pick<Certificate, 'machine'>, machineId: string): boolean =>
  certificate.machine === markOf(machineId);
