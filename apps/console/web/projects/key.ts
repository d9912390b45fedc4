/** Derives the key of a new project from its name. */

/** Letters that Unicode normalization cannot split into a base letter and a mark, with their replacements. */
const letterReplacements: Readonly<Record<string, string>> = {
  ...{ ß: 'SS', Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', ı: 'I', Ħ: 'H', Ŧ: 'T' },
};
const maxKeyLength = 10;
const minKeyLength = 2;

const toAsciiLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/./gu, (letter) => letterReplacements[letter] ?? letter)
    .replaceAll(/\p{M}/gu, '');

/** Reduces the input to the characters that a key may contain. */
export const toProjectKey = (text: string): string =>
  toAsciiLetters(text)
    .replaceAll(/[^A-Z0-9]/g, '')
    .replace(/^\d+/, '')
    .slice(0, maxKeyLength);

/**
 * Suggests a key: the initials of several words, or the beginning of a single one. If that is taken, it
 * becomes longer or gets a number. It is empty if the name contains no usable letter.
 */
export function suggestProjectKey(name: string, takenKeys: ReadonlySet<string>): string {
  const words = toAsciiLetters(name)
    .replaceAll(/['’]/g, '')
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '');
  const whole = toProjectKey(words.join(''));
  const initials = toProjectKey(words.map(([first]) => first).join(''));
  const starts = initials.length >= minKeyLength ? [initials] : [];
  for (let length = 3; length <= Math.max(3, whole.length); length += 1) starts.push(whole.slice(0, length));
  const fits = starts.filter((key) => key.length >= minKeyLength);
  const free = fits.find((key) => !takenKeys.has(key));
  if (free !== undefined) return free;
  const [base = whole] = fits;
  if (whole === '') return '';
  for (let count = 2; ; count += 1) {
    const key = `${base.slice(0, maxKeyLength - String(count).length)}${count}`;
    if (!takenKeys.has(key)) return key;
  }
}
