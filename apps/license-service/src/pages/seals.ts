/** Signs the tokens in mailed links with a secret, so that no table needs to store them. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const macBytes = 18;

function computeMac(secret: string | Buffer, text: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'muster license-service link', 32));
  return createHmac('sha256', key).update(text).digest().subarray(0, macBytes);
}

/**
 * Makes a token `<what>.<until>.<mac>` that is valid until a time. `what` must not contain a dot. The token becomes
 * invalid if the value of `boundTo` changes.
 */
export function createSealedToken(
  secrets: readonly (string | Buffer)[],
  { what, untilSeconds, boundTo = '' }: { what: string; untilSeconds: number; boundTo?: string },
): string {
  const [secret] = secrets;
  if (secret === undefined) throw new Error('there is no secret to seal with');
  const text = `${what}.${untilSeconds.toString(36)}`;
  return `${text}.${computeMac(secret, `${text}.${boundTo}`).toString('base64url')}`;
}

/** Returns the unverified `what` of a token, which is needed to look up the value that it is bound to. */
export const unverifiedSubjectOf = (token: string): string => token.split('.')[0] ?? '';

export function isValidSealedToken(
  secrets: readonly (string | Buffer)[],
  token: string,
  boundTo = '',
): boolean {
  const [what = '', until = '', mac = '', ...more] = token.split('.');
  const given = Buffer.from(mac, 'base64url');
  if (more.length > 0 || given.length !== macBytes) return false;
  const isGenuine = secrets.some((secret) =>
    timingSafeEqual(computeMac(secret, `${what}.${until}.${boundTo}`), given),
  );
  return isGenuine && parseInt(until, 36) * 1_000 > Date.now();
}
