import { stripVTControlCharacters } from 'node:util';

/**
 * Makes a text safe to print on a terminal. Other people write titles and messages. A control character in
 * such a text could move the cursor, rename the window or hide the text next to it. Line breaks are kept.
 */
export const sanitizeForTerminal = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');

/** Like `plain`, but with all white space, including line breaks, collapsed to single spaces. */
export const sanitizeToOneLine = (text: string): string =>
  sanitizeForTerminal(text).replaceAll(/\s+/g, ' ').trim();

/**
 * Returns a value as JSON that is safe to print on a terminal. Some characters are valid in JSON but change
 * the terminal's output: DEL, C1 and characters that turn the direction of writing. These are escaped, which
 * does not change the value.
 */
export const terminalSafeJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** `1 story`, `3 stories`. */
export const countWithNoun = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : plural}`;
