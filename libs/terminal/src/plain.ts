import { stripVTControlCharacters } from 'node:util';

/**
 * Text as a terminal may show it. Titles and messages are written by others: a control character in one could move the
 * cursor, rename the window or hide what stands beside it. Line breaks stay.
 */
export const plain = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');

/** The same on one line. */
export const onOneLine = (text: string): string => plain(text).replaceAll(/\s+/g, ' ').trim();

/**
 * A value as JSON that a terminal may show: what JSON leaves as it is and a terminal would act on (DEL, C1, characters that
 * turn the direction of writing) is escaped. The value stays the same.
 */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** `1 story`, `3 stories`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
