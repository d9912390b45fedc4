/** What the checks of a commit come to: the newest word about each counts, and all have to have passed. */
import { type Trust } from '@muster/registry';
import { wordsThatCount } from './check-names.ts';
import { type Check } from './fact.ts';

export type CheckWord = Pick<Check, 'name' | 'state' | 'at'> & { readonly trust: Trust };

export interface ChecksVerdict {
  readonly kind: 'checks_passed' | 'checks_failed';
  /** Of the newest word. */
  readonly at: string;
  /** How many words it stands on: of two verdicts at one time, the one that stands on more is the newer. */
  readonly rev: number;
  readonly trust: Trust;
}

/** At the same time a word that it is over holds against one that it is not, and failed against passed. */
const weights = { pending: 0, passed: 1, failed: 2 } as const;

const isNewer = (one: CheckWord, other: CheckWord): boolean =>
  one.at === other.at ? weights[one.state] > weights[other.state] : one.at > other.at;

/** Undefined while nothing failed and some are not over. The order of the words does not matter. */
export function verdictOf(words: readonly CheckWord[]): ChecksVerdict | undefined {
  const newest = new Map<string, CheckWord>();
  for (const word of words) {
    const known = newest.get(word.name);
    if (known === undefined || isNewer(word, known)) newest.set(word.name, word);
  }
  const states = wordsThatCount([...newest.values()]).map(({ state }) => state);
  const hasFailed = states.includes('failed');
  if (states.length === 0 || (!hasFailed && states.includes('pending'))) return undefined;
  return {
    kind: hasFailed ? 'checks_failed' : 'checks_passed',
    at: words.map(({ at }) => at).reduce((a, b) => (a > b ? a : b)),
    rev: words.length,
    trust: words.every(({ trust }) => trust === 'verified') ? 'verified' : 'reported',
  };
}
