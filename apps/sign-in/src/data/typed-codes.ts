/**
 * Codes that people type, from e-mails and devices (RFC 8628). They contain no vowels, so that they form no
 * words.
 */
import { randomInt } from 'node:crypto';

const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const shape = new RegExp(`^[${letters}]{8}$`);

export const newCode = (): string =>
  Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('');

/** Normalizes a typed code; undefined if it is malformed. */
export function readCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return shape.test(code) ? code : undefined;
}

/** Formats a code for display. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;
