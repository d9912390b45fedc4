/**
 * Determines the topic of a text, and whether it asks for a read or a write. It compares word stems with the
 * vocabulary.
 */
import { type Operation } from '@muster/contract';
import { stemmer } from 'stemmer';
import { writeActionSynonyms, readActionSynonyms, questionWords, thingSynonyms } from './vocabulary.ts';

export const splitWords = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');

export const stemOf = (word: string): string => stemmer(word.toLowerCase());
const stemsOf = (text: string): string[] => splitWords(text).map(stemOf);
const stemmedPhraseOf = (text: string): string => stemsOf(text).join(' ');
const normalizedSpelling = (text: string): string => splitWords(text).join(' ').toLowerCase();

/** Returns true if the term stands for a meaning rather than a word. Words contain no equals sign. */
export const isMeaningTerm = (term: string): boolean => term.startsWith('=');

const vocabularyBySort = Object.entries({
  thing: thingSynonyms,
  deed: { ...readActionSynonyms, ...writeActionSynonyms },
});
const phrasesOf = (key: string, row: string): string[] => [key, ...row.split(', ')];

/**
 * The meanings of phrases. The outer key is the phrase's word stems, and the inner key is the exact spelling.
 */
type MeaningTable = Map<string, Map<string, Set<string>>>;
/** `ofAll` contains all phrases of the vocabulary. `productTerms` contains only the product's own terms. */
const allPhrases: MeaningTable = new Map();
const productTerms: MeaningTable = new Map();
for (const [sort, rows] of vocabularyBySort)
  for (const [key, row] of Object.entries(rows)) {
    const meaning = `=${sort}:${stemmedPhraseOf(key)}`.replaceAll(' ', '_');
    const add = (to: MeaningTable, phrase: string): void => {
      const written = to.get(stemmedPhraseOf(phrase)) ?? new Map<string, Set<string>>();
      to.set(stemmedPhraseOf(phrase), written);
      written.set(
        normalizedSpelling(phrase),
        (written.get(normalizedSpelling(phrase)) ?? new Set()).add(meaning),
      );
    };
    add(productTerms, key);
    for (const phrase of phrasesOf(key, row)) add(allPhrases, phrase);
  }
const maxPhraseWords = Math.max(...[...allPhrases.keys()].map((phrase) => phrase.split(' ').length));

/**
 * Returns the meanings of a phrase. An exact spelling takes precedence: `installation` and `install` share a
 * stem but differ in meaning.
 */
function meaningsOfPhrase(words: readonly string[], table: MeaningTable): Iterable<string> {
  const written = table.get(words.map(stemOf).join(' ')) ?? new Map<string, Set<string>>();
  return (
    written.get(normalizedSpelling(words.join(' '))) ?? [...written.values()].flatMap((found) => [...found])
  );
}

/** Matches the longest phrase at each word, then continues after it. */
function findMeanings(text: string, table: MeaningTable): string[] {
  const words = splitWords(text);
  const stems = words.map(stemOf);
  const found = new Set<string>();
  for (let at = 0; at < stems.length;) {
    let length = Math.min(maxPhraseWords, stems.length - at);
    while (length > 1 && !table.has(stems.slice(at, at + length).join(' '))) length -= 1;
    for (const meaning of meaningsOfPhrase(words.slice(at, at + length), table)) found.add(meaning);
    at += length;
  }
  return [...found];
}

/**
 * Replaces each reference with the name of its kind: `WEB-42` becomes the word `story`, and
 * `src/auth/login.ts` the word `file`.
 */
const replaceReferencesByKind = (text: string): string =>
  text
    .replaceAll(/\b[A-Z][A-Z0-9]{1,9}-\d+\b/g, ' story ')
    .replaceAll(/(?<=^|\s)[\w.-]+(?:\/[\w.*-]+)+/g, ' file ');

/** Returns the meanings in a question of a person or model. */
export const meaningsOfQuestion = (text: string): string[] =>
  findMeanings(replaceReferencesByKind(text), allPhrases);

/** Returns the meanings in an operation's name or summary, where only the product's own terms count. */
export const meaningsOfStatement = (text: string): string[] => findMeanings(text, productTerms);

const firstStemsOfPhrases = (synonyms: Readonly<Record<string, string>>): Set<string> =>
  new Set(
    Object.entries(synonyms).flatMap(([key, row]) => phrasesOf(key, row).map((one) => stemsOf(one)[0] ?? '')),
  );
const readingStems = new Set([
  ...firstStemsOfPhrases(readActionSynonyms),
  ...questionWords.split(', ').map(stemOf),
]);
const changingStems = firstStemsOfPhrases(writeActionSynonyms);

/** Polite openings such as "How do I …", which do not affect the meaning. */
const courtesyPattern =
  /^\s*(?:(?:please|how (?:do|can|should|could|would) (?:i|we)|how to|(?:can|could|would) you|(?:i|we) (?:want|need|would like)(?: to)?|let me|let us|help me(?: to)?)\s+)+/i;

/** Words that ask for a change. */
const changeWishPattern =
  /\b(should|shall|must|ought|has to|have to|no longer|any ?more|from now on|instead|do not|don['’]t|need not)\b/i;

/**
 * Derives the effect from the first word of the question. If that word is ambiguous, a wish for a change
 * means a write; null means unknown.
 */
export function inferWantedEffect(question: string): Operation['effect'] | null {
  const [first = ''] = stemsOf(question.replace(courtesyPattern, ''));
  const [isAsking, isChanging] = [readingStems.has(first), changingStems.has(first)];
  if (isAsking === isChanging) return changeWishPattern.test(question) ? 'write' : null;
  return isAsking ? 'read' : 'write';
}
