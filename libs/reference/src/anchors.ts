/**
 * The place of a heading in a page, the same wherever Markdown is rendered: what a link to it says behind `#`. Letters,
 * digits, `_`, `.` and `-` stay, so that `stories.create` and `lease_held` are their own places.
 */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s._-]/gu, '')
    .replaceAll(/\s+/g, '-');
