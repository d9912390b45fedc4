/** `acme/web#17` of an address; undefined where it is none of an issue. */
export function referenceOf(address: string | null | undefined): string | undefined {
  const found = /^https?:\/\/[^/]+\/(?:repos\/)?([^/]+\/[^/]+)\/issues\/(\d+)/.exec(address ?? '');
  return found === null ? undefined : `${found[1] ?? ''}#${found[2] ?? ''}`;
}
