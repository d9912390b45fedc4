/** Handles: the names for @ mentions of members, `[a-z0-9][a-z0-9-]{0,38}`, unique in the organization. */

/** The ASCII spelling of letters that Unicode does not decompose. */
const asciiSpellings: Readonly<Record<string, string>> = {
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

/** The maximum length before a number is appended; a handle has at most 39 characters. */
const maxBaseLength = 32;

/**
 * Converts a text to a slug: `Chloé D'Arc` → `chloe-d-arc`. The result is empty if no letter or digit
 * remains.
 */
const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]/gu, (letter) => asciiSpellings[letter] ?? '-')
    .replaceAll(/-{2,}/g, '-')
    .slice(0, maxBaseLength)
    .replaceAll(/^-|-$/g, '');

/**
 * Derives a handle from the name, or from the local part of the e-mail address if the name has no usable
 * characters.
 */
export const deriveHandle = (name: string, email: string): string =>
  toSlug(name) || toSlug(email.slice(0, email.indexOf('@'))) || 'member';

/**
 * Derives a slug from an organization's name. It has at least three characters and leaves space for a number.
 */
export const deriveOrganizationSlug = (name: string): string => {
  const slug = toSlug(name);
  return slug.length >= 3 ? slug : `${slug || 'team'}-org`;
};
