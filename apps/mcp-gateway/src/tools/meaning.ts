/** What a text is about, and whether it asks or tells: by stems of words, and by the vocabulary. */
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

/** Where a meaning stands among words: no word has an equals sign. */
export const isMeaning = (term: string): boolean => term.startsWith('=');

const sorts = Object.entries({ thing: things, deed: { ...looks, ...changes } });
const phrasesOf = (key: string, row: string): string[] => [key, ...row.split(', ')];

/** What phrases mean, by their stems: for each way to write one. */
type Table = Map<string, Map<string, Set<string>>>;
/** Of each phrase that people use, and of each that is ours. */
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

/** As it is written: an installation is nothing that one installs, though both have one stem. */
function meaningsOf(words: readonly string[], table: Table): Iterable<string> {
  const written = table.get(words.map(stemOf).join(' ')) ?? new Map<string, Set<string>>();
  return written.get(writtenAs(words.join(' '))) ?? [...written.values()].flatMap((found) => [...found]);
}

/** The longest phrase that begins at each word; the words of one are not looked at again. */
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

/** `WEB-42` is a story and `src/auth/login.ts` a file, whatever else is said of them. */
const withKindsNamed = (text: string): string =>
  text
    .replaceAll(/\b[A-Z][A-Z0-9]{1,9}-\d+\b/g, ' story ')
    .replaceAll(/(?<=^|\s)[\w.-]+(?:\/[\w.*-]+)+/g, ' file ');

/** Of what a person or a model asks. */
export const meaningsOfQuestion = (text: string): string[] => meaningsIn(withKindsNamed(text), ofAll);

/** Of an operation's name or summary: its own words alone count there. */
export const meaningsOfStatement = (text: string): string[] => meaningsIn(text, ofOurs);

const firstStems = (rows: Readonly<Record<string, string>>): Set<string> =>
  new Set(
    Object.entries(rows).flatMap(([key, row]) => phrasesOf(key, row).map((one) => stemsOf(one)[0] ?? '')),
  );
const asking = new Set([...firstStems(looks), ...questionWords.split(', ').map(stemOf)]);
const changing = firstStems(changes);

/** "How do I …" and the like say nothing of what is wanted. */
const courtesies =
  /^\s*(?:(?:please|how (?:do|can|should|could|would) (?:i|we)|how to|(?:can|could|would) you|(?:i|we) (?:want|need|would like)(?: to)?|let me|let us|help me(?: to)?)\s+)+/i;

/** What is to be otherwise than it is. */
const wish =
  /\b(should|shall|must|ought|has to|have to|no longer|any ?more|from now on|instead|do not|don['’]t|need not)\b/i;

/**
 * What the first word says: to look, or to change; where it says both or neither, a sentence of how things should be is
 * for a change, and null is all others.
 */
export function effectWanted(question: string): Operation['effect'] | null {
  const [first = ''] = stemsOf(question.replace(courtesies, ''));
  const [isAsking, isChanging] = [asking.has(first), changing.has(first)];
  if (isAsking === isChanging) return wish.test(question) ? 'write' : null;
  return isAsking ? 'read' : 'write';
}
