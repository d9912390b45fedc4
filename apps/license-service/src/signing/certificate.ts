/**
 * What is signed to be kept: `<kind>.<payload>.<signature>`, both base64url; the signature is Ed25519 over the ASCII bytes
 * before the second dot, so that openssl alone can check it, and no kind can be taken for another. Certificates are the right to
 * run offline on one machine until a time: `lic1` of a license, `trial1` of a trial.
 */
import { type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { Features } from '../features.ts';

export const CertificatePayload = z.object({
  /** The id of the license, or of the trial. */
  lic: z.string(),
  plan: z.string(),
  /** What the license lets people do, on the day of the certificate. */
  features: Features,
  /** SHA-256 of the machine's id, base64url. */
  machine: z.string(),
  iat: z.int(),
  exp: z.int(),
  /** Of a slot that is lent, for how many seconds each time. */
  lease: z.int().optional(),
  /** Of a product other than the usual one. */
  product: z.string().optional(),
  /** Which of the published keys signed it. */
  kid: z.string(),
});
export type CertificatePayload = z.infer<typeof CertificatePayload>;

export const certificateKinds = ['lic1', 'trial1'] as const;
export type CertificateKind = (typeof certificateKinds)[number];

/** `<kind>.<payload>.<signature>`. */
export function signText(key: KeyObject, kind: string, payload: object): string {
  const signed = `${kind}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

export const signCertificate = (
  key: KeyObject,
  payload: CertificatePayload,
  kind: CertificateKind = 'lic1',
): string => signText(key, kind, payload);

/** The payload of a certificate that one of these keys signed; it may have ended since. Undefined for all else. */
export function readCertificate(
  text: string,
  keyOf: (kid: string) => KeyObject | undefined,
  kind: CertificateKind = 'lic1',
): CertificatePayload | undefined {
  const [word, body, signature, ...rest] = text.trim().split('.');
  if (word !== kind || body === undefined || signature === undefined || rest.length > 0) return undefined;
  const payload = CertificatePayload.safeParse(parse(Buffer.from(body, 'base64url').toString()));
  const key = payload.success ? keyOf(payload.data.kid) : undefined;
  if (!payload.success || key === undefined) return undefined;
  const signed = Buffer.from(`${word}.${body}`);
  return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? payload.data : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
