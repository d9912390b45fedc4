/** Decodes, encodes and hashes the content of published agents. */
import { createHash } from 'node:crypto';
import { type ContentEncoding, maxContentBytes } from '@muster/contract';

/** Decodes the content. Returns the bytes, or the problem as the text of a validation issue. */
export function decodeContent(
  content: string,
  encoding: ContentEncoding,
): { readonly bytes: Buffer } | { readonly problem: string } {
  const bytes = Buffer.from(content, encoding);
  // Node ignores invalid base64. Only valid, padded base64 encodes back to the same text.
  if (encoding === 'base64' && bytes.toString('base64') !== content) return { problem: 'must be base64' };
  if (bytes.length > maxContentBytes)
    return { problem: `must be at most ${maxContentBytes} bytes after decoding` };
  return { bytes };
}

/** Returns the content in the encoding in which it was published. */
export const encodeContent = (bytes: Buffer, encoding: ContentEncoding): string => bytes.toString(encoding);

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The content types used if the publisher gives none. */
export const defaultContentType: Readonly<Record<ContentEncoding, string>> = {
  utf8: 'text/plain',
  base64: 'application/octet-stream',
};
