/** Crockford's base 32: no I, L, O and U, so that nothing is mistaken for something else. */
export const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const values = new Map<string, number>([
  ...Array.from(alphabet).flatMap((symbol, value): [string, number][] => [
    [symbol, value],
    [symbol.toLowerCase(), value],
  ]),
  ...Array.from('oO').map((letter): [string, number] => [letter, 0]),
  ...Array.from('iIlL').map((letter): [string, number] => [letter, 1]),
]);

/**
 * What a typed character stands for; undefined for all others. ASCII alone is looked up: `ſ`, `ı` or a fullwidth `Ａ`
 * would become ASCII by toUpperCase or normalization, and are a typist's mistake or an attacker's trick.
 */
export const valueOf = (character: string): number | undefined => values.get(character);

export const symbolOf = (value: number): string => alphabet.charAt(value);
