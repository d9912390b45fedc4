/** Finds the operations that a question is about. */
import { type Operation } from '@muster/contract';
import MiniSearch from 'minisearch';
import {
  inferWantedEffect,
  isMeaningTerm,
  meaningsOfQuestion,
  meaningsOfStatement,
  stemOf,
  splitWords,
} from './meaning.ts';
import { type ToolSchema } from './schemas.ts';
import { operationTool, operationTools, type OperationTool } from './tools.ts';

/** Words that occur in questions of every kind. */
const stopWords: ReadonlySet<string> = new Set(
  `a an and any anybody anyone are as at be been but by can could did do does for from get give had has have he her here him his how i if
  in into is it its just let like me more my need nobody of on one or our out please shall she should show so some someone somebody
  something tell than that the their them there they this those to up us use want was we were what when where which while
  who whom why will with would you your`.split(/\s+/),
);

const isStopWord = (word: string): boolean => stopWords.has(word.toLowerCase());

/** Converts a word into its search term; null for a stop word. */
const searchTermOf = (word: string): string | null =>
  isMeaningTerm(word) ? word : isStopWord(word) ? null : stemOf(word);

/** Returns the names and enum values of a schema's parameters as text. */
const schemaText = ({ properties = {}, enum: values, items }: ToolSchema): string =>
  [
    ...Object.entries(properties).map(([name, schema]) => `${name} ${schemaText(schema)}`),
    ...(Array.isArray(values) ? values.map(String) : []),
    ...(typeof items === 'object' && items !== null ? [schemaText(items as ToolSchema)] : []),
  ].join(' ');

/** Weights of the fields. The first two contain meanings, the others words. */
const fieldWeights = { about: 3, said: 1.5, name: 3, summary: 3, keywords: 3, description: 0.5, params: 0.5 };
type IndexField = keyof typeof fieldWeights;
interface IndexEntry extends Readonly<Record<IndexField, string>> {
  readonly id: string;
  readonly effect: Operation['effect'];
}

const indexedTerms = new Set<string>();
const containsMeanings = (field: string | undefined): boolean => field === 'about' || field === 'said';
const searchIndex = new MiniSearch<IndexEntry>({
  fields: Object.keys(fieldWeights),
  storeFields: ['effect'],
  tokenize: (text, field) =>
    containsMeanings(field) ? text.split(' ').filter((meaning) => meaning !== '') : splitWords(text),
  processTerm: (word, field) => {
    const term = searchTermOf(word);
    if (term !== null && field !== undefined) indexedTerms.add(term);
    return term;
  },
});
searchIndex.addAll(
  operationTools.map(
    ({ operation: { name, effect, summary, keywords, description }, tool: { inputSchema } }) => ({
      ...{ id: name, effect, name, summary, keywords, description },
      about: meaningsOfStatement(name).join(' '),
      said: meaningsOfStatement(summary).join(' '),
      params: schemaText(inputSchema as ToolSchema),
    }),
  ),
);

/**
 * Score factor for operations whose effect (read or write) differs from the wanted one, by the wanted effect.
 * The factor is higher if a change is wanted, because a read may name the record to change.
 */
const otherEffectFactor = { read: 0.6, write: 0.8 } as const;

/** Results that score less than this share of the best one only have a common word with the question. */
const minShareOfBestScore = 0.1;

/** Finds operations, best match first. An operation whose name is the query comes before all others. */
export function findOperations(query: string): OperationTool[] {
  const named = operationTool(query.trim());
  const wanted = inferWantedEffect(query);
  const found = searchIndex
    .search(query, {
      boost: fieldWeights,
      tokenize: (text) => {
        const words = splitWords(text);
        return words.every(isStopWord) ? [] : [...words, ...meaningsOfQuestion(text)];
      },
      boostDocument: (_id, _term, entry) =>
        wanted === null || entry?.['effect'] === wanted ? 1 : otherEffectFactor[wanted],
      // Also match misspelled words and prefixes.
      fuzzy: (term) => (!indexedTerms.has(term) && term.length > 5 ? 0.2 : false),
      prefix: (term) => !isMeaningTerm(term) && term.length > 3,
      weights: { fuzzy: 0.3, prefix: 0.3 },
    })
    .filter(({ score }, _at, [best]) => score >= (best?.score ?? 0) * minShareOfBestScore)
    .flatMap(({ id }) => operationTool(String(id)) ?? []);
  return named === undefined ? found : [named, ...found.filter((tool) => tool !== named)];
}
