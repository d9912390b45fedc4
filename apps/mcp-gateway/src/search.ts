/** Which operations a question is about. */
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import { operationTool, operationTools, type OperationTool } from './tools.ts';

/** Words that are in questions of every kind. */
const stopWords: ReadonlySet<string> = new Set(
  `a an and any anybody anyone are as at be been but by can could did do does for from get give had has have he her here him his how i if
  in into is it its just let like me more my need nobody of on one or our out please shall she should show so some someone somebody
  something tell than that the their them there they this those to up us use want was we were what when where which while
  who whom why will with would you your`.split(/\s+/),
);

/** What a word is found by; null for one that tells nothing. */
function termOf(word: string): string | null {
  const lower = word.toLowerCase();
  return stopWords.has(lower) ? null : stemmer(lower);
}

const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly keywords: string;
  readonly description: string;
}

const index = new MiniSearch<Entry>({
  fields: ['name', 'summary', 'keywords', 'description'],
  tokenize: wordsOf,
  processTerm: termOf,
  searchOptions: {
    boost: { name: 3, summary: 3, keywords: 3, description: 0.5 },
    // A word that is nearly one, and one that is begun.
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    prefix: (term) => term.length > 3,
    weights: { fuzzy: 0.3, prefix: 0.3 },
  },
});
index.addAll(
  operationTools.map(({ operation: { name, summary, keywords, description } }) => ({
    id: name,
    name,
    summary,
    keywords,
    description,
  })),
);

/** The nearest first; one that is called by its name before all. */
export function findOperations(query: string): OperationTool[] {
  const named = operationTool(query.trim());
  const found = index.search(query).flatMap(({ id }) => operationTool(String(id)) ?? []);
  return named === undefined ? found : [named, ...found.filter((tool) => tool !== named)];
}
