/** Encrypts values in the database with AES-256-GCM, with their name as associated data and a separate secret. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;
const cipherName = 'aes-256-gcm';

/** Derives the key of the cipher from the secret, which may be any text. */
const deriveCipherKey = (secret: string | Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'muster license-service seal', 32));

export function seal(secret: string | Buffer, name: string, plaintext: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipherName, deriveCipherKey(secret), nonce);
  sealing.setAAD(Buffer.from(name));
  const body = Buffer.concat([sealing.update(plaintext), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), body]);
}

/** Decrypts a value. Returns undefined if the secret or the name differs or the value is damaged. */
export function unseal(secret: string | Buffer, name: string, sealed: Buffer): Buffer | undefined {
  const opening = createDecipheriv(cipherName, deriveCipherKey(secret), sealed.subarray(0, nonceBytes));
  opening.setAAD(Buffer.from(name));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
  } catch {
    return undefined;
  }
}
