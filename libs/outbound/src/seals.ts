/**
 * Secrets of connections, as they lie in the database: sealed by a key of the organization, which lies there too, and by the
 * installation's SECRETS_KEY, which does not. So a copy of the database alone opens none where the installation has a key.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const tagLength = { authTagLength: tagBytes };

/** Whose a secret is: sealed for one owner, it opens for no other. */
export interface SecretOwner {
  /** Random, of the organization. */
  readonly organizationKey: Buffer;
  /** Such as `forge <id of the connection> credentials`. */
  readonly name: string;
}

export interface Seals {
  readonly seal: (owner: SecretOwner, secret: string) => Buffer;
  /** Undefined where no key opens it: it was sealed by one that the installation does not name any more. */
  readonly open: (owner: SecretOwner, sealed: Buffer) => string | undefined;
}

const derive = (key: string, { organizationKey }: SecretOwner): Buffer =>
  Buffer.from(hkdfSync('sha256', key, organizationKey, 'muster secrets of connections', 32));

/** The first key seals; what any of them sealed opens, and what was sealed before there was one. */
export function createSeals(keys: readonly string[]): Seals {
  const [sealing = ''] = keys;
  return {
    seal: (owner, secret) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, derive(sealing, owner), nonce, tagLength);
      cipher.setAAD(Buffer.from(owner.name));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    },
    open: (owner, sealed) => {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      for (const key of new Set([...keys, ''])) {
        const nonce = sealed.subarray(0, nonceBytes);
        const decipher = createDecipheriv(algorithm, derive(key, owner), nonce, tagLength);
        decipher.setAAD(Buffer.from(owner.name));
        decipher.setAuthTag(sealed.subarray(-tagBytes));
        try {
          const opened = [decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()];
          return Buffer.concat(opened).toString('utf8');
        } catch {
          // By another key, then.
        }
      }
      return undefined;
    },
  };
}
