/** The bytes that a published content stands for. */
import { createHash } from 'node:crypto';
import { type ContentEncoding, mostContentBytes } from '@muster/registry';

/** What is wrong with it, in the words of an issue; or the bytes. */
export function decodeContent(
  content: string,
  encoding: ContentEncoding,
): { readonly bytes: Buffer } | { readonly problem: string } {
  const bytes = Buffer.from(content, encoding);
  // Node reads past what is no base64; what comes back as it went in has none of that, and is padded.
  if (encoding === 'base64' && bytes.toString('base64') !== content) return { problem: 'must be base64' };
  if (bytes.length > mostContentBytes)
    return { problem: `must have at most ${mostContentBytes} bytes decoded` };
  return { bytes };
}

/** The content as it was published. */
export const encodeContent = (bytes: Buffer, encoding: ContentEncoding): string => bytes.toString(encoding);

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Where the publisher says none. */
export const defaultContentType: Readonly<Record<ContentEncoding, string>> = {
  utf8: 'text/plain',
  base64: 'application/octet-stream',
};
