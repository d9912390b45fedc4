/**
 * Sessions of people: the secret in a browser's cookie, 256 random bits. At rest only its SHA-256. In an organization a session
 * is a token, whose hash is of the secret together with that organization: so tokens, rights, limits and the trail are what
 * they are for every caller, and a token of one organization tells nothing of another.
 */
import { createHmac, randomBytes } from 'node:crypto';

const shape = /^[\w-]{43}$/;

/** A fresh secret, for a cookie alone. */
export const newSessionSecret = (): string => randomBytes(32).toString('base64url');

/** Whether the text can be the secret of a session at all. */
export const isWellFormedSession = (text: string): boolean => shape.test(text);

/** What the token of a session has for its hash in an organization. */
export const sessionTokenHash = (secret: string, orgId: string): Buffer =>
  createHmac('sha256', secret).update(orgId).digest();
