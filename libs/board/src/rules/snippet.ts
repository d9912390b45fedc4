/** A few words of a text around what was looked for, as plain text. */
import { hitMarks } from '@muster/registry';

/** What is marked. */
export interface Sought {
  /** What the caller typed. */
  readonly typed: string;
  /** Words of other texts that it may be meant to be, as `folded` says them. */
  readonly slips: readonly string[];
}

/** Of a snippet, in characters, its marks included. */
const mostShown = 200;
/** What stands before the first hit, at most. */
const mostBefore = 60;

const [opening, closing] = hitMarks;
const marksInText = new RegExp(`[${opening}${closing}]`, 'gu');
const wordsOf = /[\p{L}\p{N}]+/gu;

/** A word as it is compared: like app.fold of the database. */
const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/gu, '')
    .normalize('NFKC');

interface Hit {
  readonly from: number;
  readonly to: number;
}

/** Where words of the text are words that were looked for, the last of which may be just begun. */
function hitsByWord(text: string, { typed, slips }: Sought): Hit[] {
  const words = folded(typed).match(wordsOf) ?? [];
  const begun = words.at(-1);
  const whole = new Set([...words, ...slips]);
  return [...text.matchAll(wordsOf)]
    .filter(([found]) => {
      const word = folded(found);
      return whole.has(word) || (begun !== undefined && word.startsWith(begun));
    })
    .map(({ 0: found, index }) => ({ from: index, to: index + found.length }));
}

/** Where the text has what was typed inside of a word, or in a script that does not part its words. */
function hitsByLetters(text: string, { typed }: Sought): Hit[] {
  const needle = typed.trim().replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
  return needle === ''
    ? []
    : [...text.matchAll(new RegExp(needle, 'giu'))].map(({ 0: found, index }) => ({
        from: index,
        to: index + found.length,
      }));
}

const isHighSurrogate = (text: string, index: number): boolean =>
  index > 0 && /[\uD800-\uDBFF]/u.test(text.charAt(index - 1));

/** Where a cut leaves no half of a character behind. */
const between = (text: string, index: number): number => (isHighSurrogate(text, index) ? index - 1 : index);

/** The text from shortly before its first hit on, with hits marked; null where it has none. */
function around(plain: string, sought: Sought): string | null {
  const byWord = hitsByWord(plain, sought);
  const hits = byWord.length > 0 ? byWord : hitsByLetters(plain, sought);
  const [first] = hits;
  if (first === undefined) return null;
  let start = 0;
  if (first.from > mostBefore) {
    const space = plain.indexOf(' ', first.from - mostBefore);
    start = between(plain, space === -1 || space >= first.from - 1 ? first.from - mostBefore : space + 1);
  }
  let shown = start === 0 ? '' : '…';
  let at = start;
  // Room for the ellipsis at the end.
  const room = () => mostShown - 1 - shown.length;
  for (const { from, to } of hits) {
    if (from < at) continue;
    const marked = `${plain.slice(at, from)}${opening}${plain.slice(from, to)}${closing}`;
    if (marked.length > room()) break;
    shown += marked;
    at = to;
  }
  return withRest(shown, plain, at);
}

function withRest(shown: string, plain: string, at: number): string {
  const rest = plain.slice(at);
  if (shown.length + rest.length <= mostShown) return shown + rest;
  const end = between(rest, mostShown - 1 - shown.length);
  return `${shown}${rest.slice(0, end).trimEnd()}…`;
}

/** On one line, without the characters that mark hits. */
const plainOf = (text: string): string =>
  text
    .replaceAll(marksInText, (mark) => (mark === opening ? '[' : ']'))
    .replaceAll(/\s+/gu, ' ')
    .trim();

/**
 * At most 200 characters (UTF-16 units) of the excerpt, with what was looked for between marks; where it has none of it, the title
 * with its marks; where that has none either, the beginning of the excerpt.
 */
export function snippetOf(title: string, excerpt: string, sought: Sought): string {
  const plain = plainOf(excerpt);
  return around(plain, sought) ?? around(plainOf(title), sought) ?? withRest('', plain, 0);
}
