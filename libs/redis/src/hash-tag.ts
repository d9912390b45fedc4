/** The part of a key by which a cluster places it: what stands in its first braces, or all of it. */
export function hashTagOf(key: string): string {
  const [, tag = ''] = /\{([^}]*)\}/.exec(key) ?? [];
  return tag === '' ? key : tag;
}
