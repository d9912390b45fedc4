/**
 * A Reed–Solomon code over GF(32) with two check symbols. Its distance is 3, so it corrects one wrong symbol or detects
 * two, which includes every swap. A word may have up to 31 symbols.
 */

/** Powers α^n of GF(32) modulo x⁵ + x² + 1, for two periods of 31, and the inverse table. */
const alphaPowers: number[] = [];
const alphaLogarithms: number[] = [];
for (let exponent = 0, element = 1; exponent < 31; exponent += 1) {
  alphaPowers[exponent] = element;
  alphaPowers[exponent + 31] = element;
  alphaLogarithms[element] = exponent;
  element <<= 1;
  if (element > 31) element ^= 0b100101;
}

const alphaPower = (exponent: number): number => alphaPowers[exponent % 31] ?? 0;
const alphaLogarithm = (element: number): number => alphaLogarithms[element] ?? 0;
const multiply = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : alphaPower(alphaLogarithm(a) + alphaLogarithm(b));
const divide = (a: number, b: number): number =>
  a === 0 ? 0 : alphaPower(alphaLogarithm(a) + 31 - alphaLogarithm(b));

/** Evaluates the word at α and α². Both values are zero for a code word. */
function syndromes(word: readonly number[]): [number, number] {
  let first = 0;
  let second = 0;
  word.forEach((symbol, place) => {
    first ^= multiply(symbol, alphaPower(place));
    second ^= multiply(symbol, alphaPower(2 * place));
  });
  return [first, second];
}

/** Computes the two check symbols that complete a code word. */
export function checkSymbols(symbols: readonly number[]): [number, number] {
  const [first, second] = syndromes(symbols);
  const [here, next] = [alphaPower(symbols.length), alphaPower(symbols.length + 1)];
  // Solves two equations for c and d: here·c + next·d = first, and here²·c + next²·d = second. Subtraction
  // equals addition in this field.
  const d = divide(second ^ multiply(here, first), multiply(next, next ^ here));
  const c = divide(first ^ multiply(next, d), here);
  return [c, d];
}

/** The result of decoding a word: it is a code word, it has one wrong symbol, or it has more errors. */
export type DecodeResult =
  | { readonly kind: 'right' }
  | { readonly kind: 'typo'; readonly place: number; readonly symbol: number }
  | { readonly kind: 'wrong' };

export function decodeWord(word: readonly number[]): DecodeResult {
  const [first, second] = syndromes(word);
  if (first === 0 && second === 0) return { kind: 'right' };
  if (first === 0 || second === 0) return { kind: 'wrong' };
  const place = alphaLogarithm(divide(second, first));
  const symbol = word[place];
  if (symbol === undefined) return { kind: 'wrong' };
  return { kind: 'typo', place, symbol: symbol ^ divide(multiply(first, first), second) };
}
