/**
 * Signatures of short texts that leave Muster and come back, such as reply addresses. Their key is derived from the
 * organization's key, which is in the database, and from SECRETS_KEY, which is not.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export interface TextSigner {
  readonly sign: (organizationKey: Buffer, content: Buffer) => Buffer;
  /** Returns true if any configured key has signed the content. */
  readonly isSigned: (organizationKey: Buffer, content: Buffer, signature: Buffer) => boolean;
}

/** Creates the functions for a purpose. The first key signs, and any key verifies. */
export function createSigner(keys: readonly string[], purpose: string, signatureBytes: number): TextSigner {
  const [signingKey = ''] = keys;
  const signWith = (key: string, organizationKey: Buffer, content: Buffer): Buffer => {
    const derived = Buffer.from(hkdfSync('sha256', key, organizationKey, purpose, 32));
    return createHmac('sha256', derived).update(content).digest().subarray(0, signatureBytes);
  };
  return {
    sign: (organizationKey, content) => signWith(signingKey, organizationKey, content),
    isSigned: (organizationKey, content, signature) =>
      signature.length === signatureBytes &&
      (keys.length === 0 ? [''] : keys).some((key) =>
        timingSafeEqual(signWith(key, organizationKey, content), signature),
      ),
  };
}
