/**
 * Signs addresses of files. The files are on a server of the seller, which checks the signature with the product's
 * secret. The secret is derived, so no table holds it.
 */
import { createHmac, hkdfSync } from 'node:crypto';

/** The time for which an address is valid. */
const downloadSeconds = 300;
/** Returns the time at which an address that is signed now ends, in seconds since 1970. */
export const downloadExpirySeconds = (): number => Math.floor(Date.now() / 1_000) + downloadSeconds;
const placeholders = ['{file}', '{expires}', '{signature}'];

/** The address of a product's files, and the version of the secret that signs it. */
export interface DownloadSettings {
  readonly product: string;
  readonly downloadsUrl: string | null;
  readonly downloadKeyVersion: number;
}

/** Returns why a text cannot be the address of files; undefined if it can. */
export function downloadsUrlProblem(template: string): string | undefined {
  if (template.length > 1_024) return 'must have at most 1,024 characters';
  const missing = placeholders.find((one) => template.split(one).length !== 2);
  if (missing !== undefined) return `must contain ${missing} once`;
  const url = placeholders.reduce((text, one) => text.replace(one, 'x'), template);
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
    ? undefined
    : 'must be an http or https address';
}

/** Returns the secret with which the seller's server checks addresses. */
export function downloadKeyOf(
  [seal]: readonly (string | Buffer)[],
  { product, downloadKeyVersion }: DownloadSettings,
): string {
  if (seal === undefined) throw new Error('there is no secret to derive the download key from');
  const context = `muster license-service downloads ${product} ${downloadKeyVersion}`;
  return Buffer.from(hkdfSync('sha256', seal, '', context, 32)).toString('hex');
}

/** Returns the signed address of a file of a release; null if the product has no address of files. */
export function signedDownloadUrl(
  seals: readonly (string | Buffer)[],
  settings: DownloadSettings,
  { version, name, expiresSeconds }: { version: string; name: string; expiresSeconds: number },
): string | null {
  if (settings.downloadsUrl === null) return null;
  const file = `${encodeURIComponent(version)}/${encodeURIComponent(name)}`;
  const signature = createHmac('sha256', downloadKeyOf(seals, settings))
    .update(`${file}\n${expiresSeconds}`)
    .digest('base64url');
  return settings.downloadsUrl
    .replace('{file}', () => file)
    .replace('{expires}', String(expiresSeconds))
    .replace('{signature}', signature);
}
