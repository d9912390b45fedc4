/**
 * Authentication of deliveries by their signatures. A signature covers the bytes as received and is compared
 * in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newWebhookSecret } from '@muster/outbound';
import { type ForgeKind, type Trust } from '@muster/contract';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';

/** The headers by their names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Creates a webhook secret. For GitLab it has the format of a signing token. */
export const newForgeSecret = (kind: ForgeKind): string =>
  kind === 'gitlab' ? newWebhookSecret() : randomBytes(32).toString('base64url');

export const getHeader = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two texts in a time that reveals neither their content nor their length. */
const isSameText = (left: string, right: string): boolean => timingSafeEqual(sha256(left), sha256(right));

async function isSigned(secret: string, body: string, signature: string): Promise<boolean> {
  return verify(secret, body, signature).catch(() => false);
}

function isSignedByStandardWebhooks(secret: string, body: string, headers: Headers): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, getHeader(headers, name) ?? '']));
  try {
    new Webhook(secret).verify(body, signed);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the signature header of old Gitea versions: the digest of `X-Hub-Signature-256` without the prefix
 * `sha256=`.
 */
function giteaSignature(kind: ForgeKind, headers: Headers): string | undefined {
  if (kind === 'github') return undefined;
  const own = getHeader(headers, 'x-forgejo-signature') ?? getHeader(headers, 'x-gitea-signature');
  return own === undefined ? undefined : `sha256=${own}`;
}

/**
 * Returns how far a delivery can be trusted; null if the forge did not send it. GitLab without a signing
 * token sends the secret token as plain text. The token identifies the sender but does not protect the
 * content, so such a delivery is only `reported`.
 */
export async function verifyTrust(
  kind: ForgeKind,
  secret: string,
  headers: Headers,
  body: string,
): Promise<Trust | null> {
  if (kind !== 'gitlab') {
    const signature = getHeader(headers, 'x-hub-signature-256') ?? giteaSignature(kind, headers);
    return signature !== undefined && (await isSigned(secret, body, signature)) ? 'verified' : null;
  }
  if (getHeader(headers, 'webhook-signature') !== undefined)
    return isSignedByStandardWebhooks(secret, body, headers) ? 'verified' : null;
  const token = getHeader(headers, 'x-gitlab-token');
  return token !== undefined && isSameText(token, secret) ? 'reported' : null;
}

const eventHeaders: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ['x-github-event'],
  gitlab: ['x-gitlab-event'],
  gitea: ['x-gitea-event-type', 'x-gitea-event'],
  forgejo: ['x-forgejo-event-type', 'x-forgejo-event', 'x-gitea-event-type', 'x-gitea-event'],
};
const deliveryIdHeaders: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ['x-github-delivery'],
  gitlab: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
  gitea: ['x-gitea-delivery'],
  forgejo: ['x-forgejo-delivery', 'x-gitea-delivery'],
};

const printableAsciiPattern = /^[\x20-\x7e]{1,200}$/;
const firstHeaderValue = (headers: Headers, names: readonly string[]): string | undefined => {
  const value = names
    .map((name) => getHeader(headers, name))
    .find((text) => text !== undefined && text !== '');
  return value !== undefined && printableAsciiPattern.test(value) ? value : undefined;
};

/**
 * Reads the forge's name of the event; undefined if the headers lack it. `deliveryIdOf` reads the id of the
 * delivery in the same way.
 */
export const eventNameOf = (kind: ForgeKind, headers: Headers): string | undefined =>
  firstHeaderValue(headers, eventHeaders[kind]);
export const deliveryIdOf = (kind: ForgeKind, headers: Headers): string | undefined =>
  firstHeaderValue(headers, deliveryIdHeaders[kind]);
/** Returns the headers that a delivery must have, for an error message. */
export const requiredHeaders = (kind: ForgeKind): readonly string[] => [
  ...eventHeaders[kind].slice(0, 1),
  ...deliveryIdHeaders[kind].slice(0, 1),
];
