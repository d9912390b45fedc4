/**
 * License keys: `MSTR1-` and five groups of five symbols, 23 of them random (115 bits) and two that check the whole,
 * the prefix included.
 */
import { hash, randomBytes } from 'node:crypto';
import { symbolOf, valueOf } from './alphabet.ts';
import { checkSymbols, readWord } from './reed-solomon.ts';

const prefix = 'MSTR1';
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

const prefixSymbols = Array.from(prefix, (character) => valueOf(character) ?? 0);

export function newKey(): Key {
  // 256 is eight times 32, so the lowest five bits of a random byte are even.
  const random = Array.from(randomBytes(randomSymbols), (byte) => byte & 31);
  const symbols = [...prefixSymbols, ...random];
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

/** Spaces, line ends and dashes of every kind; people and mail programs put them anywhere. */
const separators = /[\s\p{Z}\p{Pd}\u2212\u00ad\u200b\ufeff]/gu;

/** Reads a key as people write it. What is no key by one symbol is told apart from what is none at all. */
export function parseKey(text: string): ParsedKey {
  if (text.length > longestText) return { kind: 'none' };
  const typed = Array.from(text.replaceAll(separators, ''), valueOf);
  const known = typed.map((value) => value ?? 0);
  const hasPrefix = known.length === keySymbols;
  if (!hasPrefix && known.length !== keySymbols - prefix.length) return { kind: 'none' };
  const symbols = hasPrefix ? known : [...prefixSymbols, ...known];

  const unknown = typed.flatMap((value, place) =>
    value === undefined ? [hasPrefix ? place : place + prefix.length] : [],
  );
  const reading = readWord(symbols);
  const [first, second] = unknown;
  if (second !== undefined || reading.kind === 'wrong') return { kind: 'none' };
  if (reading.kind === 'typo') {
    // A character that is no symbol is one mistake already.
    if (first !== undefined && first !== reading.place) return { kind: 'none' };
    return typoAt(reading.place, reading.symbol, symbols, hasPrefix);
  }
  // It stood in for zero, and zero is what belongs there.
  if (first !== undefined) return typoAt(first, 0, symbols, hasPrefix);
  return isPrefixed(symbols) ? { kind: 'key', key: toKey(symbols) } : { kind: 'none' };
}

/** One symbol is wrong, and with the right one it would be a key of ours. */
function typoAt(place: number, symbol: number, symbols: readonly number[], hasPrefix: boolean): ParsedKey {
  if (!isPrefixed(symbols.with(place, symbol))) return { kind: 'none' };
  const position = place + 1;
  const typedPosition = hasPrefix ? position : position - prefix.length;
  return typedPosition < 1
    ? { kind: 'none' }
    : { kind: 'typo', position, typedPosition, perhaps: symbolOf(symbol) };
}

const isPrefixed = (symbols: readonly number[]): boolean =>
  prefixSymbols.every((value, place) => symbols[place] === value);

/** What is stored of a key. 115 random bits need no salt (NIST SP 800-63B asks for 112). */
export const hashOfKey = (key: Key): Buffer => hash('sha256', key, 'buffer');

/** The last four symbols, by which people tell keys apart. */
export const hintOfKey = (key: Key): string => key.slice(-4);
