/** The response headers of a file. No file may run as a page in the origin of the console. */

/** The media types that browsers show and never run. SVG is not among them, because it can contain scripts. */
const inlineTypes: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
  ...['video/mp4', 'video/webm'],
]);

/** Encodes a file name as RFC 8187 requires. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const asciiName = (name: string): string => name.replace(/[^\x20-\x7e]|["\\%]/g, '_');

export function downloadHeaders(file: {
  readonly name: string;
  readonly content_type: string;
  readonly size: number;
}): Readonly<Record<string, string>> {
  const isInline = inlineTypes.has(file.content_type);
  const disposition = isInline ? 'inline' : 'attachment';
  return {
    'content-type': isInline ? file.content_type : 'application/octet-stream',
    'content-length': String(file.size),
    'content-disposition': `${disposition}; filename="${asciiName(file.name)}"; filename*=UTF-8''${encodeName(file.name)}`,
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, max-age=300',
  };
}
