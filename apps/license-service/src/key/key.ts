/**
 * License keys. A key has the five-symbol prefix of its product (`MSTR1` by default) and five groups of five symbols.
 * The groups contain 23 random symbols (115 bits) and two check symbols of the whole key, including the prefix.
 */
import { hash, randomBytes } from 'node:crypto';
import { symbolOf, symbolValueOf } from './alphabet.ts';
import { checkSymbols, decodeWord } from './reed-solomon.ts';

/** The key prefix of the default product. */
export const defaultKeyPrefix = 'MSTR1';
const prefixLength = defaultKeyPrefix.length;
const randomSymbolCount = 23;
/** The number of symbols of a key: a prefix and five groups of five. */
const keySymbolCount = 30;
const groupSymbolCount = 5;
/** The longest text that is parsed. It is longer than any key with spaces around it. */
const maxParsedLength = 256;

/** A valid key in its displayed form, with dashes between the groups. Only this form is hashed. */
export type FormattedKey = string & { readonly __brand: 'license key' };

/** Formats validated symbols as a key. No other function creates a `Key`. */
const formatKey = (symbols: readonly number[]): FormattedKey =>
  symbols
    .map((value, place) => (place > 0 && place % groupSymbolCount === 0 ? '-' : '') + symbolOf(value))
    .join('') as FormattedKey;

const symbolValuesOf = (prefix: string): readonly number[] =>
  Array.from(prefix, (character) => symbolValueOf(character) ?? 0);

/** Returns the prefix of a key, which identifies its product. */
export const keyPrefixOf = (key: FormattedKey): string => key.slice(0, prefixLength);

/**
 * Returns true if a key typed without its prefix could belong to either product. The code is linear, so this is true
 * exactly if both prefixes contribute the same check symbols.
 */
export function areConfusablePrefixes(firstPrefix: string, secondPrefix: string): boolean {
  const checks = (prefix: string): string =>
    checkSymbols([...symbolValuesOf(prefix), ...Array<number>(randomSymbolCount).fill(0)]).join();
  return checks(firstPrefix) === checks(secondPrefix);
}

export function generateKey(prefix: string = defaultKeyPrefix): FormattedKey {
  // 256 is a multiple of 32, so the lowest five bits of a random byte are uniformly distributed.
  const random = Array.from(randomBytes(randomSymbolCount), (byte) => byte & 31);
  const symbols = [...symbolValuesOf(prefix), ...random];
  return formatKey([...symbols, ...checkSymbols(symbols)]);
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
const separatorPattern = /[\s\p{Z}\p{Pd}\p{Cf}\p{Default_Ignorable_Code_Point}\u2212]/gu;

/** Quotes, brackets and punctuation that were copied together with a key. */
const surroundingPunctuation = /^[\p{Ps}\p{Pi}\p{Pf}"'`<]+|[\p{Pe}\p{Pi}\p{Pf}"'`>.,;:]+$/gu;

const dashPattern = /[\p{Pd}\u2212]/gu;
const invisiblePattern = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const nonKeyText = /[^0-9A-Z\s-]+/i;
const groupPattern = '[0-9A-Z]{5}';

/** Builds the pattern of a key of this many groups, either with dashes or as one word. */
const keyPatternOf = (groups: number): RegExp =>
  new RegExp(`^(?:${groupPattern}(?:-${groupPattern}){${groups - 1}}|(?:${groupPattern}){${groups}})$`, 'i');

/** Patterns of keys with and without prefix. The prefixed form is tried first, because it hardly matches by chance. */
const printedKeyForms = [keySymbolCount, keySymbolCount - prefixLength].map((symbols) => {
  const groups = symbols / groupSymbolCount;
  return {
    groups,
    unspaced: keyPatternOf(groups),
    spaced: new RegExp(`^${groupPattern}(?: ${groupPattern}){${groups - 1}}$`, 'i'),
  };
});
type PrintedForm = (typeof printedKeyForms)[number];

/** Finds the parts of a line that look like a key in this form. */
function findKeyCandidates(line: string, { groups, unspaced, spaced }: PrintedForm): string[] {
  const plain = line.replaceAll(invisiblePattern, '').replaceAll(dashPattern, '-');
  return plain.split(nonKeyText).flatMap((part) => {
    const words = part.split(/\s+/);
    const windows = words.map((_, start) => words.slice(start, start + groups).join(' '));
    return [...words.filter((word) => unspaced.test(word)), ...windows.filter((text) => spaced.test(text))];
  });
}

/** Finds and parses the key in a text, which may be a line such as `License key: MUSTR-…`. */
export function parseKey(text: string, prefixes: readonly string[] = [defaultKeyPrefix]): ParsedKey {
  const parsed = parseBareKey(text, prefixes);
  if (parsed.kind !== 'none' || text.length > maxParsedLength) return parsed;
  for (const form of printedKeyForms) {
    const found = findKeyCandidates(text, form)
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
  if (text.length > maxParsedLength) return { kind: 'none' };
  const typed = Array.from(
    text.replaceAll(separatorPattern, '').replaceAll(surroundingPunctuation, ''),
    symbolValueOf,
  );
  if (typed.length === keySymbolCount) return parseSymbols(typed, prefixes, 0);
  if (typed.length !== keySymbolCount - prefixLength) return { kind: 'none' };
  const readings = prefixes.map((prefix) =>
    parseSymbols([...symbolValuesOf(prefix), ...typed], [prefix], prefixLength),
  );
  const right = readings.find(({ kind }) => kind === 'key');
  if (right !== undefined) return right;
  // Suggests a correction only if the text could be a typo of the keys of exactly one product.
  const [typo, ...others] = readings.filter(({ kind }) => kind === 'typo');
  return typo !== undefined && others.length === 0 ? typo : { kind: 'none' };
}

/** Parses a whole key, whose first `untyped` symbols were not typed. */
function parseSymbols(
  typed: readonly (number | undefined)[],
  prefixes: readonly string[],
  untypedCount: number,
): ParsedKey {
  const symbols = typed.map((value) => value ?? 0);
  const unknown = typed.flatMap((value, place) => (value === undefined ? [place] : []));
  const reading = decodeWord(symbols);
  const [first, second] = unknown;
  if (second !== undefined || reading.kind === 'wrong') return { kind: 'none' };
  if (reading.kind === 'typo') {
    // A character outside the alphabet already uses up the one error that is tolerated.
    if (first !== undefined && first !== reading.place) return { kind: 'none' };
    return typoResultAt(reading.place, reading.symbol, symbols, prefixes, untypedCount);
  }
  // The invalid character was read as zero. The check symbols show that zero is the right symbol.
  if (first !== undefined) return typoResultAt(first, 0, symbols, prefixes, untypedCount);
  return hasKnownPrefix(symbols, prefixes) ? { kind: 'key', key: formatKey(symbols) } : { kind: 'none' };
}

/** Returns the typo at a place if the corrected key has one of the prefixes. */
function typoResultAt(
  index: number,
  symbol: number,
  symbols: readonly number[],
  prefixes: readonly string[],
  untypedCount: number,
): ParsedKey {
  if (!hasKnownPrefix(symbols.with(index, symbol), prefixes)) return { kind: 'none' };
  const position = index + 1;
  const typedPosition = position - untypedCount;
  return typedPosition < 1
    ? { kind: 'none' }
    : { kind: 'typo', position, typedPosition, perhaps: symbolOf(symbol) };
}

const hasKnownPrefix = (symbols: readonly number[], prefixes: readonly string[]): boolean =>
  prefixes.includes(symbols.slice(0, prefixLength).map(symbolOf).join(''));

/** Parses a text as a key of any product. */
function parsedKindOf(text: string): ParsedKey['kind'] {
  const prefix = text.replaceAll(separatorPattern, '').slice(0, prefixLength);
  return parseKey(text, [defaultKeyPrefix, prefix.toUpperCase()]).kind;
}

/** Returns true if a text is a key of any product, judging only by its check symbols. */
export const isKey = (text: string): boolean => parsedKindOf(text) === 'key';

/** Returns true if a text is a key of any product or a key with one wrong symbol. */
export const isKeyLike = (text: string): boolean => parsedKindOf(text) !== 'none';

/** Hashes a key for storage. 115 random bits need no salt, because NIST SP 800-63B requires 112. */
export const hashKey = (key: FormattedKey): Buffer => hash('sha256', key, 'buffer');

/** Returns the last four symbols of a key, by which people tell keys apart. */
export const keyHintOf = (key: FormattedKey): string => key.slice(-4);
