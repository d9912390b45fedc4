/**
 * The keys that sign exports. Each is derived from a key of SECRETS_KEY and from a random value in the database. The
 * first key signs. All are published, so that archives stay verifiable while SECRETS_KEY is rotated.
 */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A public key as a JSON Web Key (RFC 8037), and in the form that OpenSSL reads. */
export interface ExportPublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
  readonly pem: string;
}

interface ExportSigningKey {
  readonly privateKey: KeyObject;
  readonly published: ExportPublicKey;
}

/** The bytes before the seed in an Ed25519 key as PKCS #8 (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function deriveExportKey(secret: string, salt: string): ExportSigningKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, salt, 'muster signature of exports', 32));
  const der = Buffer.concat([pkcs8Prefix, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const { x = '' } = publicKey.export({ format: 'jwk' });
  // The id of a key is its thumbprint (RFC 7638).
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return { privateKey, published: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA', pem } };
}

/** Derives the keys of an installation. The first key signs. */
export function deriveExportKeys(
  [first = '', ...others]: readonly string[],
  salt: string,
): readonly [ExportSigningKey, ...ExportSigningKey[]] {
  return [deriveExportKey(first, salt), ...others.map((secret) => deriveExportKey(secret, salt))];
}
