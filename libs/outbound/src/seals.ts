/**
 * Encryption of the secrets of connections in the database. The key is derived from the organization's key,
 * which is in the database too, and from the installation's SECRETS_KEY, which is not. If the installation
 * has a key, a copy of the database alone reveals no secret.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const cipherOptions = { authTagLength: tagBytes };

/** The owner of a secret. A secret that was encrypted for one owner cannot be decrypted for another. */
export interface SecretOwner {
  /** The random key of the organization. */
  readonly organizationKey: Buffer;
  /** The name of the secret, such as `forge <id of the connection> credentials`. */
  readonly name: string;
}

export interface SecretCipher {
  readonly encrypt: (owner: SecretOwner, secret: string) => Buffer;
  /**
   * Decrypts a secret. Returns undefined if no configured key decrypts it, because its key was removed from
   * the configuration.
   */
  readonly decrypt: (owner: SecretOwner, sealed: Buffer) => string | undefined;
}

const deriveKey = (key: string, { organizationKey }: SecretOwner): Buffer =>
  Buffer.from(hkdfSync('sha256', key, organizationKey, 'muster secrets of connections', 32));

/**
 * Creates the functions that encrypt with the first key and decrypt with any of them. Secrets that were
 * stored in plain text, before a key was configured, can be read too.
 */
export function createSecretCipher(keys: readonly string[]): SecretCipher {
  const [sealing = ''] = keys;
  return {
    encrypt: (owner, secret) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, deriveKey(sealing, owner), nonce, cipherOptions);
      cipher.setAAD(Buffer.from(owner.name));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt: (owner, sealed) => {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      for (const key of new Set([...keys, ''])) {
        const nonce = sealed.subarray(0, nonceBytes);
        const decipher = createDecipheriv(algorithm, deriveKey(key, owner), nonce, cipherOptions);
        decipher.setAAD(Buffer.from(owner.name));
        decipher.setAuthTag(sealed.subarray(-tagBytes));
        try {
          const opened = [decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()];
          return Buffer.concat(opened).toString('utf8');
        } catch {
          // Another key encrypted it: try the next one.
        }
      }
      return undefined;
    },
  };
}
