/**
 * Returns the part of a key that determines its slot in a cluster: the text in its first braces, or the whole
 * key.
 */
export function hashTagOf(key: string): string {
  const [, tag = ''] = /\{([^}]*)\}/.exec(key) ?? [];
  return tag === '' ? key : tag;
}
