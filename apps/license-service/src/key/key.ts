/**
 * License keys: the five symbols of their product, `MSTR1` unless it has others, and five groups of five, 23 symbols of
 * them random (115 bits) and two that check the whole, the prefix included.
 */
import { hash, randomBytes } from 'node:crypto';
import { symbolOf, valueOf } from './alphabet.ts';
import { checkSymbols, readWord } from './reed-solomon.ts';

/** Of the product that there is without being made. */
export const usualPrefix = 'MSTR1';
const prefixLength = usualPrefix.length;
const randomSymbols = 23;
/** Prefix and five groups. */
const keySymbols = 30;
const groupSymbols = 5;
/** Longer than any key with spaces about it; more is not even looked at. */
const longestText = 256;

/** As it is shown: groups with dashes between. The one form that is hashed. */
export type Key = string & { readonly __brand: 'license key' };

/** The only maker of the type: from here on a text is known to be a key. */
const toKey = (symbols: readonly number[]): Key =>
  symbols
    .map((value, place) => (place > 0 && place % groupSymbols === 0 ? '-' : '') + symbolOf(value))
    .join('') as Key;

const symbolsOf = (prefix: string): readonly number[] =>
  Array.from(prefix, (character) => valueOf(character) ?? 0);

/** The product of a key, by its first symbols. */
export const prefixOf = (key: Key): string => key.slice(0, prefixLength);

/**
 * Whether a key without its prefix could be of either: the code is linear, so it could exactly where both prefixes ask for
 * the same check symbols.
 */
export function isMistakenFor(one: string, other: string): boolean {
  const checks = (prefix: string): string =>
    checkSymbols([...symbolsOf(prefix), ...Array<number>(randomSymbols).fill(0)]).join();
  return checks(one) === checks(other);
}

export function newKey(prefix: string = usualPrefix): Key {
  // 256 is eight times 32, so the lowest five bits of a random byte are even.
  const random = Array.from(randomBytes(randomSymbols), (byte) => byte & 31);
  const symbols = [...symbolsOf(prefix), ...random];
  return toKey([...symbols, ...checkSymbols(symbols)]);
}

/**
 * What a text is as a key. Positions count symbols from 1, dashes not: `position` in the whole key, prefix included, and
 * `typedPosition` in what was typed, for people who look at that.
 */
export type ParsedKey =
  | { readonly kind: 'key'; readonly key: Key }
  | {
      readonly kind: 'typo';
      readonly position: number;
      readonly typedPosition: number;
      readonly perhaps: string;
    }
  | { readonly kind: 'none' };

/** Spaces, line ends, dashes and invisible characters of every kind; people and mail programs put them anywhere. */
const separators = /[\s\p{Z}\p{Pd}\p{Cf}\p{Default_Ignorable_Code_Point}\u2212]/gu;

/** Quotes, brackets and marks of a sentence that were copied with a key. */
const wrapping = /^[\p{Ps}\p{Pi}\p{Pf}"'`<]+|[\p{Pe}\p{Pi}\p{Pf}"'`>.,;:]+$/gu;

const dashes = /[\p{Pd}\u2212]/gu;
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const sentenceParts = /[^0-9A-Z\s-]+/i;
const group = '[0-9A-Z]{5}';

/** A key of this many groups without spaces: its groups between dashes, or all of its symbols in one. */
const unspacedKey = (groups: number): RegExp =>
  new RegExp(`^(?:${group}(?:-${group}){${groups - 1}}|(?:${group}){${groups}})$`, 'i');

/** Patterns of keys with and without their prefix. A text that has its prefix is hardly a key by chance, so it comes first. */
const printedForms = [keySymbols, keySymbols - prefixLength].map((symbols) => {
  const groups = symbols / groupSymbols;
  return {
    groups,
    unspaced: unspacedKey(groups),
    spaced: new RegExp(`^${group}(?: ${group}){${groups - 1}}$`, 'i'),
  };
});
type PrintedForm = (typeof printedForms)[number];

/** The parts of a line that look like a key in this form. */
function candidatesIn(line: string, { groups, unspaced, spaced }: PrintedForm): string[] {
  const plain = line.replaceAll(invisible, '').replaceAll(dashes, '-');
  return plain.split(sentenceParts).flatMap((part) => {
    const words = part.split(/\s+/);
    const windows = words.map((_, start) => words.slice(start, start + groups).join(' '));
    return [...words.filter((word) => unspaced.test(word)), ...windows.filter((text) => spaced.test(text))];
  });
}

/** Reads a key that may stand within a line: `License key: MUSTR-…`. */
export function parseKey(text: string, prefixes: readonly string[] = [usualPrefix]): ParsedKey {
  const parsed = parseBareKey(text, prefixes);
  if (parsed.kind !== 'none' || text.length > longestText) return parsed;
  for (const form of printedForms) {
    const found = candidatesIn(text, form)
      .map((candidate) => parseBareKey(candidate, prefixes))
      .filter((candidate) => candidate.kind === 'key');
    const keys = new Set(found.map(({ key }) => key));
    // With several keys it is unclear which one was meant.
    if (keys.size > 0) return keys.size === 1 && found[0] !== undefined ? found[0] : parsed;
  }
  return parsed;
}

/**
 * Reads a key of one of these products as people write it. What is no key by one symbol is told apart from what is none at
 * all.
 */
function parseBareKey(text: string, prefixes: readonly string[]): ParsedKey {
  if (text.length > longestText) return { kind: 'none' };
  const typed = Array.from(text.replaceAll(separators, '').replaceAll(wrapping, ''), valueOf);
  if (typed.length === keySymbols) return readSymbols(typed, prefixes, 0);
  if (typed.length !== keySymbols - prefixLength) return { kind: 'none' };
  const readings = prefixes.map((prefix) =>
    readSymbols([...symbolsOf(prefix), ...typed], [prefix], prefixLength),
  );
  const right = readings.find(({ kind }) => kind === 'key');
  if (right !== undefined) return right;
  // Where it may be the typo of several products' keys, none is the one to name.
  const [typo, ...others] = readings.filter(({ kind }) => kind === 'typo');
  return typo !== undefined && others.length === 0 ? typo : { kind: 'none' };
}

/** A whole key, of which the first `untyped` symbols were left out in typing. */
function readSymbols(
  typed: readonly (number | undefined)[],
  prefixes: readonly string[],
  untyped: number,
): ParsedKey {
  const symbols = typed.map((value) => value ?? 0);
  const unknown = typed.flatMap((value, place) => (value === undefined ? [place] : []));
  const reading = readWord(symbols);
  const [first, second] = unknown;
  if (second !== undefined || reading.kind === 'wrong') return { kind: 'none' };
  if (reading.kind === 'typo') {
    // A character that is no symbol is one mistake already.
    if (first !== undefined && first !== reading.place) return { kind: 'none' };
    return typoAt(reading.place, reading.symbol, symbols, prefixes, untyped);
  }
  // It stood in for zero, and zero is what belongs there.
  if (first !== undefined) return typoAt(first, 0, symbols, prefixes, untyped);
  return isPrefixed(symbols, prefixes) ? { kind: 'key', key: toKey(symbols) } : { kind: 'none' };
}

/** One symbol is wrong, and with the right one it would be a key of ours. */
function typoAt(
  place: number,
  symbol: number,
  symbols: readonly number[],
  prefixes: readonly string[],
  untyped: number,
): ParsedKey {
  if (!isPrefixed(symbols.with(place, symbol), prefixes)) return { kind: 'none' };
  const position = place + 1;
  const typedPosition = position - untyped;
  return typedPosition < 1
    ? { kind: 'none' }
    : { kind: 'typo', position, typedPosition, perhaps: symbolOf(symbol) };
}

const isPrefixed = (symbols: readonly number[], prefixes: readonly string[]): boolean =>
  prefixes.includes(symbols.slice(0, prefixLength).map(symbolOf).join(''));

/** What a text is as a key of whatever product. */
function kindOf(text: string): ParsedKey['kind'] {
  const prefix = text.replaceAll(separators, '').slice(0, prefixLength);
  return parseKey(text, [usualPrefix, prefix.toUpperCase()]).kind;
}

/** Whether a text is a key of whatever product, by its own check symbols. */
export const isKey = (text: string): boolean => kindOf(text) === 'key';

/** Whether it is one, or was to be one and has a wrong symbol. */
export const isKeyLike = (text: string): boolean => kindOf(text) !== 'none';

/** What is stored of a key. 115 random bits need no salt (NIST SP 800-63B asks for 112). */
export const hashOfKey = (key: Key): Buffer => hash('sha256', key, 'buffer');

/** The last four symbols, by which people tell keys apart. */
export const hintOfKey = (key: Key): string => key.slice(-4);
