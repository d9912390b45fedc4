/**
 * Determines the topic of a text, and whether it asks for a read or a write. It compares word stems with the
 * vocabulary.
 */
import { type Operation } from '@muster/registry';
import { stemmer } from 'stemmer';
import { changes, looks, questionWords, things } from './vocabulary.ts';

export const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');

export const stemOf = (word: string): string => stemmer(word.toLowerCase());
const stemsOf = (text: string): string[] => wordsOf(text).map(stemOf);
const phraseOf = (text: string): string => stemsOf(text).join(' ');
const writtenAs = (text: string): string => wordsOf(text).join(' ').toLowerCase();

/** Returns true if the term stands for a meaning rather than a word. Words contain no equals sign. */
export const isMeaning = (term: string): boolean => term.startsWith('=');

const sorts = Object.entries({ thing: things, deed: { ...looks, ...changes } });
const phrasesOf = (key: string, row: string): string[] => [key, ...row.split(', ')];

/**
 * The meanings of phrases. The outer key is the phrase's word stems, and the inner key is the exact spelling.
 */
type Table = Map<string, Map<string, Set<string>>>;
/** `ofAll` contains all phrases of the vocabulary. `ofOurs` contains only the product's own terms. */
const ofAll: Table = new Map();
const ofOurs: Table = new Map();
for (const [sort, rows] of sorts)
  for (const [key, row] of Object.entries(rows)) {
    const meaning = `=${sort}:${phraseOf(key)}`.replaceAll(' ', '_');
    const add = (to: Table, phrase: string): void => {
      const written = to.get(phraseOf(phrase)) ?? new Map<string, Set<string>>();
      to.set(phraseOf(phrase), written);
      written.set(writtenAs(phrase), (written.get(writtenAs(phrase)) ?? new Set()).add(meaning));
    };
    add(ofOurs, key);
    for (const phrase of phrasesOf(key, row)) add(ofAll, phrase);
  }
const mostWords = Math.max(...[...ofAll.keys()].map((phrase) => phrase.split(' ').length));

/**
 * Returns the meanings of a phrase. An exact spelling takes precedence: `installation` and `install` share a
 * stem but differ in meaning.
 */
function meaningsOf(words: readonly string[], table: Table): Iterable<string> {
  const written = table.get(words.map(stemOf).join(' ')) ?? new Map<string, Set<string>>();
  return written.get(writtenAs(words.join(' '))) ?? [...written.values()].flatMap((found) => [...found]);
}

/** Matches the longest phrase at each word, then continues after it. */
function meaningsIn(text: string, table: Table): string[] {
  const words = wordsOf(text);
  const stems = words.map(stemOf);
  const found = new Set<string>();
  for (let at = 0; at < stems.length;) {
    let length = Math.min(mostWords, stems.length - at);
    while (length > 1 && !table.has(stems.slice(at, at + length).join(' '))) length -= 1;
    for (const meaning of meaningsOf(words.slice(at, at + length), table)) found.add(meaning);
    at += length;
  }
  return [...found];
}

/** Replaces references by their kind: `WEB-42` becomes a story and `src/auth/login.ts` a file. */
const withKindsNamed = (text: string): string =>
  text
    .replaceAll(/\b[A-Z][A-Z0-9]{1,9}-\d+\b/g, ' story ')
    .replaceAll(/(?<=^|\s)[\w.-]+(?:\/[\w.*-]+)+/g, ' file ');

/** Returns the meanings in a question of a person or model. */
export const meaningsOfQuestion = (text: string): string[] => meaningsIn(withKindsNamed(text), ofAll);

/** Returns the meanings in an operation's name or summary, where only the product's own terms count. */
export const meaningsOfStatement = (text: string): string[] => meaningsIn(text, ofOurs);

const firstStems = (rows: Readonly<Record<string, string>>): Set<string> =>
  new Set(
    Object.entries(rows).flatMap(([key, row]) => phrasesOf(key, row).map((one) => stemsOf(one)[0] ?? '')),
  );
const asking = new Set([...firstStems(looks), ...questionWords.split(', ').map(stemOf)]);
const changing = firstStems(changes);

/** Polite openings such as "How do I …", which do not affect the meaning. */
const courtesies =
  /^\s*(?:(?:please|how (?:do|can|should|could|would) (?:i|we)|how to|(?:can|could|would) you|(?:i|we) (?:want|need|would like)(?: to)?|let me|let us|help me(?: to)?)\s+)+/i;

/** Words that ask for a change. */
const wish =
  /\b(should|shall|must|ought|has to|have to|no longer|any ?more|from now on|instead|do not|don['’]t|need not)\b/i;

/**
 * Derives the effect from the first word of the question. If that word is ambiguous, a wish for a change
 * means a write; null means unknown.
 */
export function effectWanted(question: string): Operation['effect'] | null {
  const [first = ''] = stemsOf(question.replace(courtesies, ''));
  const [isAsking, isChanging] = [asking.has(first), changing.has(first)];
  if (isAsking === isChanging) return wish.test(question) ? 'write' : null;
  return isAsking ? 'read' : 'write';
}
