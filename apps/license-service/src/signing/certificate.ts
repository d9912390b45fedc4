/**
 * Signed texts that clients keep: `<kind>.<payload>.<signature>`, with payload and signature in base64url. The Ed25519
 * signature covers the ASCII bytes before the second dot, including the kind, so that openssl alone can verify it.
 * A certificate allows one machine to run offline until a time: `lic1` for a license, `trial1` for a trial.
 */
import { type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { LicenseFeatures } from '../features.ts';

export const CertificatePayload = z.object({
  /** The ID of the license or trial. */
  lic: z.string(),
  plan: z.string(),
  /** The features of the license at the time when the certificate was signed. */
  features: LicenseFeatures,
  /** The SHA-256 of the machine ID, in base64url. */
  machine: z.string(),
  iat: z.int(),
  exp: z.int(),
  /** The duration of a slot lease in seconds; missing if the license does not lease its slots. */
  lease: z.int().optional(),
  /** The name of the product; missing for the default product. */
  product: z.string().optional(),
  /** The ID of the published key that signed the certificate. */
  kid: z.string(),
});
export type CertificatePayload = z.infer<typeof CertificatePayload>;

export const certificateKinds = ['lic1', 'trial1'] as const;
export type SignedCertificateKind = (typeof certificateKinds)[number];

/** Signs a payload as `<kind>.<payload>.<signature>`. */
export function signPayload(key: KeyObject, kind: string, payload: object): string {
  const signed = `${kind}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

export const signCertificate = (
  key: KeyObject,
  payload: CertificatePayload,
  kind: SignedCertificateKind = 'lic1',
): string => signPayload(key, kind, payload);

/**
 * Verifies a certificate and returns its payload. An expired certificate is accepted. Returns undefined for
 * any other text.
 */
export function readCertificate(
  text: string,
  findKey: (kid: string) => KeyObject | undefined,
  kind: SignedCertificateKind = 'lic1',
): CertificatePayload | undefined {
  const [word, body, signature, ...rest] = text.trim().split('.');
  if (word !== kind || body === undefined || signature === undefined || rest.length > 0) return undefined;
  const payload = CertificatePayload.safeParse(
    parseJsonOrUndefined(Buffer.from(body, 'base64url').toString()),
  );
  const key = payload.success ? findKey(payload.data.kid) : undefined;
  if (!payload.success || key === undefined) return undefined;
  const signed = Buffer.from(`${word}.${body}`);
  return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? payload.data : undefined;
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
