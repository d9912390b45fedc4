/** Prepares public keys for verification. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { type PublicKey } from './public-key.ts';

/** Returns the key with this id, or undefined if there is no usable one. */
export type KeyRing = (kid: string) => KeyObject | undefined;

export const createKeyRing =
  (keys: readonly PublicKey[]): KeyRing =>
  (kid) => {
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined) return undefined;
    try {
      return createPublicKey({ format: 'jwk', key: { kty: key.kty, crv: key.crv, x: key.x } });
    } catch {
      return undefined;
    }
  };
