/**
 * Certificates: the right to run without the server on one machine until a time. `lic1.<payload>.<signature>`, both
 * base64url; the signature is Ed25519 over the bytes before the second dot.
 */
import { createHash, verify } from 'node:crypto';
import { type Features, featuresIn } from './features.ts';
import { type KeyRing } from './key-ring.ts';

export interface Certificate {
  /** The license's id. */
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

function payloadOf(text: string): Certificate | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
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
export function readCertificate(text: string, ring: KeyRing): Certificate | undefined {
  const [version, body, signature, ...rest] = text.split('.');
  if (version !== 'lic1' || body === undefined || signature === undefined || rest.length > 0)
    return undefined;
  const payload = payloadOf(body);
  const key = payload && ring(payload.kid);
  if (payload === undefined || key === undefined) return undefined;
  const signed = Buffer.from(`${version}.${body}`);
  return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? payload : undefined;
}

export const isOfMachine = (certificate: Certificate, machineId: string): boolean =>
  certificate.machine === createHash('sha256').update(machineId).digest('base64url');
