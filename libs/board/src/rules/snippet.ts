/** Extracts a few words of a text around the search hits, as plain text. */
import { hitMarks } from '@muster/registry';

/** The words to mark. */
export interface Sought {
  /** The search text of the caller. */
  readonly typed: string;
  /** Known words that a misspelled search word may mean, in the form of `folded`. */
  readonly slips: readonly string[];
}

/** The maximum length of a snippet in characters, including marks. */
const mostShown = 200;
/** The maximum number of characters before the first hit. */
const mostBefore = 60;

const [opening, closing] = hitMarks;
const marksInText = new RegExp(`[${opening}${closing}]`, 'gu');
const wordsOf = /[\p{L}\p{N}]+/gu;

/** Returns a word in the form used for comparison. It matches app.fold in the database. */
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

/** Finds words of the text that equal a search word. The last search word may be a prefix. */
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

/** Finds the search text anywhere, for hits inside of words and for scripts without spaces. */
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

/** Moves an index so that a cut there does not split a surrogate pair. */
const between = (text: string, index: number): number => (isHighSurrogate(text, index) ? index - 1 : index);

/** Returns the text from shortly before its first hit, with marked hits; null without a hit. */
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
  // Leaves space for the ellipsis at the end.
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

/** Returns the text on one line, with the characters that mark hits replaced by brackets. */
const plainOf = (text: string): string =>
  text
    .replaceAll(marksInText, (mark) => (mark === opening ? '[' : ']'))
    .replaceAll(/\s+/gu, ' ')
    .trim();

/**
 * Returns up to 200 characters (UTF-16 units) of the excerpt with marked hits. If the excerpt has no hit,
 * returns the title with marked hits. If the title has no hit either, returns the beginning of the excerpt.
 */
export function snippetOf(title: string, excerpt: string, sought: Sought): string {
  const plain = plainOf(excerpt);
  return around(plain, sought) ?? around(plainOf(title), sought) ?? withRest('', plain, 0);
}
