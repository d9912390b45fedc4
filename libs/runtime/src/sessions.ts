/**
 * Defines the secrets of people's sessions: 256 random bits in a browser's cookie. The database stores only
 * the SHA-256. In an organization, a session is represented by a token whose hash covers the secret and that
 * organization. Rights, limits and the trail therefore work as for every caller, and a token of one
 * organization reveals nothing about another.
 */
import { createHmac, randomBytes } from 'node:crypto';

const sessionSecretPattern = /^[\w-]{43}$/;

/** Creates a secret, to be sent only as a cookie. */
export const newSessionSecret = (): string => randomBytes(32).toString('base64url');

/** True if the text has the format of a session's secret. */
export const isWellFormedSession = (text: string): boolean => sessionSecretPattern.test(text);

/** Computes the hash of a session's token in an organization. */
export const sessionTokenHash = (secret: string, orgId: string): Buffer =>
  createHmac('sha256', secret).update(orgId).digest();
