/** The public keys of the license service, in the form in which it publishes them. */

/** An Ed25519 public key as a JSON Web Key (RFC 8037), as in /.well-known/license-keys.json. */
export interface PublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
}

function isPublicKey(value: unknown): value is PublicKey {
  if (typeof value !== 'object' || value === null) return false;
  const { kty, crv, x, kid } = value as Partial<Record<keyof PublicKey, unknown>>;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof kid === 'string';
}

/** Returns the elements of a list that are keys of this kind. */
export const parsePublicKeys = (list: unknown): PublicKey[] =>
  Array.isArray(list) ? list.filter(isPublicKey).map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid })) : [];
