/** Handles: what @ mentions a member by, `[a-z0-9][a-z0-9-]{0,38}`, unique in the organization. */

/** Letters that no decomposition brings to ASCII. */
const spelled: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
};

/** Short of the 39 allowed, so that a number fits behind. */
const longestBase = 32;

/** `Chloé D'Arc` → `chloe-d-arc`; empty where nothing is left. */
const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]/gu, (letter) => spelled[letter] ?? '-')
    .replaceAll(/-{2,}/g, '-')
    .slice(0, longestBase)
    .replaceAll(/^-|-$/g, '');

/** The handle that a name asks for; the e-mail's local part where the name has no such letters. */
export const handleFor = (name: string, email: string): string =>
  slugOf(name) || slugOf(email.slice(0, email.indexOf('@'))) || 'member';

/** The slug that an organization's name asks for, with room for a number behind; at least three characters. */
export const slugFor = (name: string): string => {
  const slug = slugOf(name);
  return slug.length >= 3 ? slug : `${slug || 'team'}-org`;
};

/** The handle itself, or the first of `-2`, `-3` … that is free. `taken` holds all that begin with it. */
export function uniqueHandle(handle: string, taken: ReadonlySet<string>): string {
  let unique = handle;
  for (let number = 2; taken.has(unique); number += 1) unique = `${handle}-${number}`;
  return unique;
}
