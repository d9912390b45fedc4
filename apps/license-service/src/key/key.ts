/**
 * License keys. A key has the five-symbol prefix of its product (`MSTR1` by default) and five groups of five symbols.
 * The groups contain 23 random symbols (115 bits) and two check symbols of the whole key, including the prefix.
 */
import { hash, randomBytes } from 'node:crypto';
import { symbolOf, valueOf } from './alphabet.ts';
import { checkSymbols, readWord } from './reed-solomon.ts';

/** The key prefix of the default product. */
export const usualPrefix = 'MSTR1';
const prefixLength = usualPrefix.length;
const randomSymbols = 23;
/** The number of symbols of a key: a prefix and five groups of five. */
const keySymbols = 30;
const groupSymbols = 5;
/** The longest text that is parsed. It is longer than any key with spaces around it. */
const longestText = 256;

/** A valid key in its displayed form, with dashes between the groups. Only this form is hashed. */
export type FormattedKey = string & { readonly __brand: 'license key' };

/** Formats validated symbols as a key. No other function creates a `Key`. */
const toKey = (symbols: readonly number[]): FormattedKey =>
  symbols
    .map((value, place) => (place > 0 && place % groupSymbols === 0 ? '-' : '') + symbolOf(value))
    .join('') as FormattedKey;

const symbolsOf = (prefix: string): readonly number[] =>
  Array.from(prefix, (character) => valueOf(character) ?? 0);

/** Returns the prefix of a key, which identifies its product. */
export const prefixOf = (key: FormattedKey): string => key.slice(0, prefixLength);

/**
 * Returns true if a key typed without its prefix could belong to either product. The code is linear, so this is true
 * exactly if both prefixes contribute the same check symbols.
 */
export function isMistakenFor(one: string, other: string): boolean {
  const checks = (prefix: string): string =>
    checkSymbols([...symbolsOf(prefix), ...Array<number>(randomSymbols).fill(0)]).join();
  return checks(one) === checks(other);
}

export function newKey(prefix: string = usualPrefix): FormattedKey {
  // 256 is a multiple of 32, so the lowest five bits of a random byte are uniformly distributed.
  const random = Array.from(randomBytes(randomSymbols), (byte) => byte & 31);
  const symbols = [...symbolsOf(prefix), ...random];
  return toKey([...symbols, ...checkSymbols(symbols)]);
}

/**
 * The result of parsing a key. Positions count symbols from 1, without dashes. `position` refers to the whole key with
 * its prefix; `typedPosition` refers to the typed text, for messages to people.
 */
export type ParsedKey =
  | { readonly kind: 'key'; readonly key: FormattedKey }
  | {
      readonly kind: 'typo';
      readonly position: number;
      readonly typedPosition: number;
      readonly perhaps: string;
    }
  | { readonly kind: 'none' };

/** Spaces, line ends, dashes and invisible characters, which people and mail programs insert anywhere. */
const separators = /[\s\p{Z}\p{Pd}\p{Cf}\p{Default_Ignorable_Code_Point}\u2212]/gu;

/** Quotes, brackets and punctuation that were copied together with a key. */
const wrapping = /^[\p{Ps}\p{Pi}\p{Pf}"'`<]+|[\p{Pe}\p{Pi}\p{Pf}"'`>.,;:]+$/gu;

const dashes = /[\p{Pd}\u2212]/gu;
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const sentenceParts = /[^0-9A-Z\s-]+/i;
const group = '[0-9A-Z]{5}';

/** Builds the pattern of a key of this many groups, either with dashes or as one word. */
const unspacedKey = (groups: number): RegExp =>
  new RegExp(`^(?:${group}(?:-${group}){${groups - 1}}|(?:${group}){${groups}})$`, 'i');

/** Patterns of keys with and without prefix. The prefixed form is tried first, because it hardly matches by chance. */
const printedForms = [keySymbols, keySymbols - prefixLength].map((symbols) => {
  const groups = symbols / groupSymbols;
  return {
    groups,
    unspaced: unspacedKey(groups),
    spaced: new RegExp(`^${group}(?: ${group}){${groups - 1}}$`, 'i'),
  };
});
type PrintedForm = (typeof printedForms)[number];

/** Finds the parts of a line that look like a key in this form. */
function candidatesIn(line: string, { groups, unspaced, spaced }: PrintedForm): string[] {
  const plain = line.replaceAll(invisible, '').replaceAll(dashes, '-');
  return plain.split(sentenceParts).flatMap((part) => {
    const words = part.split(/\s+/);
    const windows = words.map((_, start) => words.slice(start, start + groups).join(' '));
    return [...words.filter((word) => unspaced.test(word)), ...windows.filter((text) => spaced.test(text))];
  });
}

/** Finds and parses the key in a text, which may be a line such as `License key: MUSTR-…`. */
export function parseKey(text: string, prefixes: readonly string[] = [usualPrefix]): ParsedKey {
  const parsed = parseBareKey(text, prefixes);
  if (parsed.kind !== 'none' || text.length > longestText) return parsed;
  for (const form of printedForms) {
    const found = candidatesIn(text, form)
      .map((candidate) => parseBareKey(candidate, prefixes))
      .filter((candidate) => candidate.kind === 'key');
    const keys = new Set(found.map(({ key }) => key));
    // If the text contains several valid keys, it is unclear which key was meant.
    if (keys.size > 0) return keys.size === 1 && found[0] !== undefined ? found[0] : parsed;
  }
  return parsed;
}

/**
 * Parses a text that is only a key of one of these products, as people type it. A key with one wrong symbol is a typo;
 * any other text is not a key.
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
  // Suggests a correction only if the text could be a typo of the keys of exactly one product.
  const [typo, ...others] = readings.filter(({ kind }) => kind === 'typo');
  return typo !== undefined && others.length === 0 ? typo : { kind: 'none' };
}

/** Parses a whole key, whose first `untyped` symbols were not typed. */
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
    // A character outside the alphabet already uses up the one error that is tolerated.
    if (first !== undefined && first !== reading.place) return { kind: 'none' };
    return typoAt(reading.place, reading.symbol, symbols, prefixes, untyped);
  }
  // The invalid character was read as zero. The check symbols show that zero is the right symbol.
  if (first !== undefined) return typoAt(first, 0, symbols, prefixes, untyped);
  return isPrefixed(symbols, prefixes) ? { kind: 'key', key: toKey(symbols) } : { kind: 'none' };
}

/** Returns the typo at a place if the corrected key has one of the prefixes. */
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

/** Parses a text as a key of any product. */
function kindOf(text: string): ParsedKey['kind'] {
  const prefix = text.replaceAll(separators, '').slice(0, prefixLength);
  return parseKey(text, [usualPrefix, prefix.toUpperCase()]).kind;
}

/** Returns true if a text is a key of any product, judging only by its check symbols. */
export const isKey = (text: string): boolean => kindOf(text) === 'key';

/** Returns true if a text is a key of any product or a key with one wrong symbol. */
export const isKeyLike = (text: string): boolean => kindOf(text) !== 'none';

/** Hashes a key for storage. 115 random bits need no salt, because NIST SP 800-63B requires 112. */
export const hashOfKey = (key: FormattedKey): Buffer => hash('sha256', key, 'buffer');

/** Returns the last four symbols of a key, by which people tell keys apart. */
export const hintOfKey = (key: FormattedKey): string => key.slice(-4);
