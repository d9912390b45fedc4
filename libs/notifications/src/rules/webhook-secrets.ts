/**
 * The secrets that sign messages. They lie in the database sealed: by the organization's own key, which lies there too, and
 * by WEBHOOK_SEAL, which does not, where the installation has one.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const secretBytes = 32;
const prefix = 'whsec_';

export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64');

/** The first seals; any of them may have sealed what is opened. */
export type Seals = readonly string[];

/** Whose a secret is: sealed for one endpoint, it opens for no other. */
export interface SecretOwner {
  readonly organizationKey: Buffer;
  readonly webhookId: string;
}

const keyOf = (seal: string, { organizationKey }: SecretOwner): Buffer =>
  Buffer.from(hkdfSync('sha256', seal, organizationKey, 'muster webhook secrets', 32));

/** What seals where the installation names nothing. */
const sealsOf = (seals: Seals): Seals => (seals.length === 0 ? [''] : seals);

export function sealSecret(seals: Seals, owner: SecretOwner, secret: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(sealsOf(seals)[0] ?? '', owner), nonce, {
    authTagLength: tagBytes,
  });
  cipher.setAAD(Buffer.from(owner.webhookId));
  const sealed = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed);
}

/** Undefined where none of the seals opens it. */
export function openSecret(seals: Seals, owner: SecretOwner, sealed: Buffer): string | undefined {
  if (sealed.length <= nonceBytes + tagBytes) return undefined;
  // What was sealed before the installation named a seal.
  for (const seal of [...sealsOf(seals), '']) {
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = createDecipheriv(algorithm, keyOf(seal, owner), nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(owner.webhookId));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      const opened = [decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      continue;
    }
  }
  return undefined;
}
