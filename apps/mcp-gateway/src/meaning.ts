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

/** Where a meaning stands among words: no word has an equals sign. */
export const isMeaning = (term: string): boolean => term.startsWith('=');

const sorts = Object.entries({ thing: things, deed: { ...looks, ...changes } });
const phrasesOf = (key: string, row: string): string[] => [key, ...row.split(', ')];

/** The meanings of each phrase that people use, and of each that is ours. */
const ofAll = new Map<string, Set<string>>();
const ofOurs = new Map<string, Set<string>>();
for (const [sort, rows] of sorts)
  for (const [key, row] of Object.entries(rows)) {
    const meaning = `=${sort}:${phraseOf(key)}`.replaceAll(' ', '_');
    const add = (to: Map<string, Set<string>>, phrase: string): unknown =>
      to.set(phrase, (to.get(phrase) ?? new Set()).add(meaning));
    add(ofOurs, phraseOf(key));
    for (const phrase of phrasesOf(key, row)) add(ofAll, phraseOf(phrase));
  }
const mostWords = Math.max(...[...ofAll.keys()].map((phrase) => phrase.split(' ').length));

/** The longest phrase that begins at each word; the words of one are not looked at again. */
function meaningsIn(text: string, table: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const stems = stemsOf(text);
  const found = new Set<string>();
  for (let at = 0; at < stems.length;) {
    let length = Math.min(mostWords, stems.length - at);
    while (length > 1 && !table.has(stems.slice(at, at + length).join(' '))) length -= 1;
    for (const meaning of table.get(stems.slice(at, at + length).join(' ')) ?? []) found.add(meaning);
    at += length;
  }
  return [...found];
}

/** `WEB-42` is a story, whatever else is said of it. */
const withKeysNamed = (text: string): string => text.replaceAll(/\b[A-Z][A-Z0-9]{1,9}-\d+\b/g, ' story ');

/** Of what a person or a model asks. */
export const meaningsOfQuestion = (text: string): string[] => meaningsIn(withKeysNamed(text), ofAll);

/** Of an operation's name or summary: its own words alone count there. */
export const meaningsOfStatement = (text: string): string[] => meaningsIn(text, ofOurs);

const firstStems = (rows: Readonly<Record<string, string>>): Set<string> =>
  new Set(
    Object.entries(rows).flatMap(([key, row]) => phrasesOf(key, row).map((one) => stemsOf(one)[0] ?? '')),
  );
const asking = new Set([...firstStems(looks), ...questionWords.split(', ').map(stemOf)]);
const telling = firstStems(changes);

/** "How do I …" and the like say nothing of what is wanted. */
const courtesies =
  /^\s*(?:(?:please|how (?:do|can|should|could|would) (?:i|we)|how to|(?:can|could|would) you|(?:i|we) (?:want|need|would like)(?: to)?|let me|let us|help me(?: to)?)\s+)+/i;

/** What the first word says: to look, or to change; null where it says both or neither. */
export function effectWanted(question: string): Operation['effect'] | null {
  const [first = ''] = stemsOf(question.replace(courtesies, ''));
  const [isAsking, isTelling] = [asking.has(first), telling.has(first)];
  if (isAsking === isTelling) return null;
  return isAsking ? 'read' : 'write';
}
