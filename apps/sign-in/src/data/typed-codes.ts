/**
 * Codes that people type, from e-mails and devices (RFC 8628). They contain no vowels, so that they form no
 * words.
 */
import { randomInt } from 'node:crypto';

const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const codePattern = new RegExp(`^[${codeLetters}]{8}$`);

export const generateCode = (): string =>
  Array.from({ length: 8 }, () => codeLetters.charAt(randomInt(codeLetters.length))).join('');

/** Normalizes a typed code; undefined if it is malformed. */
export function parseCode(typedCode: string): string | undefined {
  const code = typedCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return codePattern.test(code) ? code : undefined;
}

/** Formats a code for display. */
export const formatCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;
