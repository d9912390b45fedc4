/** The alphabet of Crockford's base 32. It has no I, L, O and U, so that no symbol is mistaken for another. */
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
 * Returns the value of a typed character; undefined if it is not a symbol. Only ASCII is accepted. Characters such as
 * `ſ`, `ı` or a fullwidth `Ａ` become ASCII by toUpperCase or normalization, but are a typo or an attack.
 */
export const valueOf = (character: string): number | undefined => values.get(character);

export const symbolOf = (value: number): string => alphabet.charAt(value);
