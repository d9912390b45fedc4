/** The key of a new project, from its name. */

/** Letters that are one of their own, not one with a mark on it. */
const spelled: Readonly<Record<string, string>> = {
  ...{ ß: 'SS', Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', ı: 'I', Ħ: 'H', Ŧ: 'T' },
};
const longest = 10;
const shortest = 2;

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/./gu, (letter) => spelled[letter] ?? letter)
    .replaceAll(/\p{M}/gu, '');

/** As far as what is typed can be part of a key. */
export const keyOf = (text: string): string =>
  plain(text)
    .replaceAll(/[^A-Z0-9]/g, '')
    .replace(/^\d+/, '')
    .slice(0, longest);

/**
 * The first letters of several words, or the beginning of one; longer, or counted, where that is taken. Empty where the name has
 * nothing that a key is made of.
 */
export function suggestKey(name: string, taken: ReadonlySet<string>): string {
  const words = plain(name)
    .replaceAll(/['’]/g, '')
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '');
  const whole = keyOf(words.join(''));
  const initials = keyOf(words.map(([first]) => first).join(''));
  const starts = initials.length >= shortest ? [initials] : [];
  for (let length = 3; length <= Math.max(3, whole.length); length += 1) starts.push(whole.slice(0, length));
  const fits = starts.filter((key) => key.length >= shortest);
  const free = fits.find((key) => !taken.has(key));
  if (free !== undefined) return free;
  const [base = whole] = fits;
  if (whole === '') return '';
  for (let count = 2; ; count += 1) {
    const key = `${base.slice(0, longest - String(count).length)}${count}`;
    if (!taken.has(key)) return key;
  }
}
