/**
 * Signed texts that are stored: `<kind>.<payload>.<signature>`, both parts in base64url. The Ed25519
 * signature covers the bytes before the second dot.
 * A certificate allows the program to run on one machine without the service until a time. Its kind is `lic1`
 * for a license and `trial1` for a trial.
 */
import { createHash, verify } from 'node:crypto';
import { type Features, parseFeatures } from './features.ts';
import { type KeyRing } from './key-ring.ts';

export interface Certificate {
  /** The id of the license or of the trial. */
  readonly lic: string;
  readonly plan: string;
  readonly features: Features;
  /** The SHA-256 digest of the machine's id, in base64url. */
  readonly machine: string;
  /** The start of the certificate's validity in seconds since 1970. `exp` is its end. */
  readonly iat: number;
  readonly exp: number;
  readonly kid: string;
  /** The duration of a leased slot in seconds. Null if the machine keeps the slot until it releases it. */
  readonly lease: number | null;
}

export type CertificateKind = 'lic1' | 'trial1';

const parseBase64UrlObject = (base64url: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64url, 'base64url').toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Returns the payload of a text of this kind that one of these keys signed. Returns undefined for any other
 * text.
 */
export function verifySignedText(text: string, kind: string, keyRing: KeyRing): object | undefined {
  const [word, body, signature, ...rest] = text.split('.');
  if (word !== kind || body === undefined || signature === undefined || rest.length > 0) return undefined;
  const payload = parseBase64UrlObject(body);
  const { kid } = (payload ?? {}) as { kid?: unknown };
  const key = typeof kid === 'string' ? keyRing(kid) : undefined;
  if (payload === undefined || key === undefined) return undefined;
  const signed = Buffer.from(`${word}.${body}`);
  return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? payload : undefined;
}

function toCertificate(value: object): Certificate | undefined {
  const { lic, plan, features, machine, iat, exp, kid, lease } = value as Partial<
    Record<keyof Certificate, unknown>
  >;
  const isWhole =
    [lic, plan, machine, kid].every((one) => typeof one === 'string') &&
    [iat, exp].every((one) => Number.isSafeInteger(one));
  if (!isWhole) return undefined;
  const seconds = Number.isSafeInteger(lease) ? Number(lease) : null;
  return { ...(value as Certificate), features: parseFeatures(features), lease: seconds };
}

/**
 * Returns a certificate that one of these keys signed, even if it has expired. Returns undefined for any
 * other text.
 */
export function readCertificate(
  text: string,
  keyRing: KeyRing,
  kind: CertificateKind = 'lic1',
): Certificate | undefined {
  const payload = verifySignedText(text, kind, keyRing);
  return payload && toCertificate(payload);
}

export const hashMachineId = (machineId: string): string =>
  createHash('sha256').update(machineId).digest('base64url');

export const isCertificateOfMachine = (
  certificate: Pick<Certificate, 'machine'>,
  machineId: string,
): boolean => certificate.machine === hashMachineId(machineId);
