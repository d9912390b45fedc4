/** Extracts a few words of a text around the search hits, as plain text. */
import { matchMarkers } from '@muster/contract';

/** The words to mark. */
export interface SearchTerms {
  /** The search text of the caller. */
  readonly searchText: string;
  /** Known words that a misspelled search word may mean, in the form of `folded`. */
  readonly corrections: readonly string[];
}

/** The maximum length of a snippet in characters, including marks. */
const maxSnippetLength = 200;
/** The maximum number of characters before the first hit. */
const maxCharactersBeforeHit = 60;

const [hitOpeningMark, hitClosingMark] = matchMarkers;
const hitMarkPattern = new RegExp(`[${hitOpeningMark}${hitClosingMark}]`, 'gu');
const wordPattern = /[\p{L}\p{N}]+/gu;

/** Returns a word in the form used for comparison. It matches app.fold in the database. */
const foldWord = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/gu, '')
    .normalize('NFKC');

interface HitRange {
  readonly from: number;
  readonly to: number;
}

/** Finds words of the text that equal a search word. The last search word may be a prefix. */
function findWordHits(text: string, { searchText, corrections }: SearchTerms): HitRange[] {
  const words = foldWord(searchText).match(wordPattern) ?? [];
  const begun = words.at(-1);
  const whole = new Set([...words, ...corrections]);
  return [...text.matchAll(wordPattern)]
    .filter(([found]) => {
      const word = foldWord(found);
      return whole.has(word) || (begun !== undefined && word.startsWith(begun));
    })
    .map(({ 0: found, index }) => ({ from: index, to: index + found.length }));
}

/** Finds the search text anywhere, for hits inside of words and for scripts without spaces. */
function findSubstringHits(text: string, { searchText }: SearchTerms): HitRange[] {
  const needle = searchText.trim().replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
  return needle === ''
    ? []
    : [...text.matchAll(new RegExp(needle, 'giu'))].map(({ 0: found, index }) => ({
        from: index,
        to: index + found.length,
      }));
}

const isAfterHighSurrogate = (text: string, index: number): boolean =>
  index > 0 && /[\uD800-\uDBFF]/u.test(text.charAt(index - 1));

/** Moves an index so that a cut there does not split a surrogate pair. */
const avoidSurrogateSplit = (text: string, index: number): number =>
  isAfterHighSurrogate(text, index) ? index - 1 : index;

/** Returns the text from shortly before its first hit, with marked hits; null without a hit. */
function extractAroundFirstHit(plainText: string, searchTerms: SearchTerms): string | null {
  const byWord = findWordHits(plainText, searchTerms);
  const hits = byWord.length > 0 ? byWord : findSubstringHits(plainText, searchTerms);
  const [first] = hits;
  if (first === undefined) return null;
  let start = 0;
  if (first.from > maxCharactersBeforeHit) {
    const space = plainText.indexOf(' ', first.from - maxCharactersBeforeHit);
    start = avoidSurrogateSplit(
      plainText,
      space === -1 || space >= first.from - 1 ? first.from - maxCharactersBeforeHit : space + 1,
    );
  }
  let shown = start === 0 ? '' : '…';
  let at = start;
  // Leaves space for the ellipsis at the end.
  const room = () => maxSnippetLength - 1 - shown.length;
  for (const { from, to } of hits) {
    if (from < at) continue;
    const marked = `${plainText.slice(at, from)}${hitOpeningMark}${plainText.slice(from, to)}${hitClosingMark}`;
    if (marked.length > room()) break;
    shown += marked;
    at = to;
  }
  return appendRest(shown, plainText, at);
}

function appendRest(snippet: string, plainText: string, restIndex: number): string {
  const rest = plainText.slice(restIndex);
  if (snippet.length + rest.length <= maxSnippetLength) return snippet + rest;
  const end = avoidSurrogateSplit(rest, maxSnippetLength - 1 - snippet.length);
  return `${snippet}${rest.slice(0, end).trimEnd()}…`;
}

/** Returns the text on one line, with the characters that mark hits replaced by brackets. */
const toPlainText = (text: string): string =>
  text
    .replaceAll(hitMarkPattern, (mark) => (mark === hitOpeningMark ? '[' : ']'))
    .replaceAll(/\s+/gu, ' ')
    .trim();

/**
 * Returns up to 200 characters (UTF-16 units) of the excerpt with marked hits. If the excerpt has no hit,
 * returns the title with marked hits. If the title has no hit either, returns the beginning of the excerpt.
 */
export function buildSnippet(title: string, excerpt: string, searchTerms: SearchTerms): string {
  const plain = toPlainText(excerpt);
  return (
    extractAroundFirstHit(plain, searchTerms) ??
    extractAroundFirstHit(toPlainText(title), searchTerms) ??
    appendRest('', plain, 0)
  );
}
