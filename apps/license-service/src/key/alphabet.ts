/** The alphabet of Crockford's base 32. It has no I, L, O and U, so that no symbol is mistaken for another. */
export const keyAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const valuesByCharacter = new Map<string, number>([
  ...Array.from(keyAlphabet).flatMap((symbol, value): [string, number][] => [
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
export const symbolValueOf = (character: string): number | undefined => valuesByCharacter.get(character);

export const symbolOf = (value: number): string => keyAlphabet.charAt(value);
