/** Ed25519 signing keys, in their stored and their published form. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { queryOutsideOrg, type Pool, sql } from '@muster/driver';
import { seal, unseal } from './seal.ts';
import { createAnswerSigner, type SignAnswer } from './sign-answer.ts';

/** A public key as a JSON Web Key (RFC 8037). */
export interface SigningPublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

/** Computes the ID of a key: its thumbprint (RFC 7638). */
const keyIdOf = (x: string): string =>
  createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');

const toPublicJwk = (raw: Buffer, kid: string): SigningPublicKey => ({
  ...{ kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url'), kid, use: 'sig', alg: 'EdDSA' },
});

/** Converts a public key for verifying signatures. */
export const toKeyObject = ({ kty, crv, x }: SigningPublicKey): KeyObject =>
  createPublicKey({ format: 'jwk', key: { kty, crv, x } });

export interface GeneratedSigningKey {
  readonly kid: string;
  readonly publicKey: Buffer;
  readonly sealedKey: Buffer;
}

export function generateSigningKey(sealSecret: string | Buffer): GeneratedSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = keyIdOf(x);
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { kid, publicKey: Buffer.from(x, 'base64url'), sealedKey: seal(sealSecret, kid, plain) };
}

interface KeyRow {
  readonly product: string;
  readonly kid: string;
  readonly public_key: Buffer;
  readonly sealed_key: Buffer;
  readonly is_due: boolean;
}

export interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
  readonly signAnswer: SignAnswer;
}

/** The signing keys of a product that are currently in use or published. */
export interface ProductSigningKeys {
  /** The signing key in use; undefined if no key is active or none can be decrypted. */
  readonly signer: Signer | undefined;
  readonly published: readonly SigningPublicKey[];
}

/** Loads the published keys of each product and its newest active key that can be decrypted. */
export async function loadSigningKeys(
  pool: Pool,
  sealSecrets: readonly (string | Buffer)[],
): Promise<ReadonlyMap<string, ProductSigningKeys>> {
  const rows = await queryOutsideOrg(
    pool,
    sql<KeyRow>`select product, kid, public_key, sealed_key,
        retired_at is null and active_from <= clock_timestamp()::timestamptz(3) as is_due
      from licenses.signing_keys
      where published_until is null or published_until > clock_timestamp()
      order by active_from desc, created_at desc`,
  );
  const ofProducts = Map.groupBy(rows, ({ product }) => product);
  return new Map([...ofProducts].map(([product, own]) => [product, selectSigningKeys(own, sealSecrets)]));
}

function selectSigningKeys(
  rows: readonly KeyRow[],
  sealSecrets: readonly (string | Buffer)[],
): ProductSigningKeys {
  const published = rows.map(({ kid, public_key: raw }) => toPublicJwk(raw, kid));
  for (const { kid, sealed_key: sealed } of rows.filter(({ is_due: isDue }) => isDue)) {
    for (const secret of sealSecrets) {
      const plain = unseal(secret, kid, sealed);
      if (plain === undefined) continue;
      const key = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
      return { published, signer: { kid, key, signAnswer: createAnswerSigner({ kid, key }) } };
    }
  }
  return { published, signer: undefined };
}
