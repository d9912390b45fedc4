/** The secret of an invitation: `inv_` and 32 base-62 symbols (190 bits). Only its SHA-256 hash is stored. */
import { randomInt } from 'node:crypto';

const base62Symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretPattern = /^inv_[0-9A-Za-z]{32}$/;

export const newInvitationSecret = (): string =>
  `inv_${Array.from({ length: 32 }, () => base62Symbols[randomInt(62)] ?? '').join('')}`;

/** Returns whether the text has the form of a secret. Other texts are rejected without a query. */
export const isInvitationSecret = (text: string): boolean => secretPattern.test(text);
