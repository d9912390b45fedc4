/** Codes that people type: of mails, and of devices (RFC 8628). They have no vowels, so that they are no words. */
import { randomInt } from 'node:crypto';

const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const shape = new RegExp(`^[${letters}]{8}$`);

export const newCode = (): string =>
  Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('');

/** A typed code as it was made; undefined where it can be none. */
export function readCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return shape.test(code) ? code : undefined;
}

/** A code as people see it. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;
