/**
 * Returns the anchor of a heading, the same in every rendering of Markdown. Letters, digits, `_`, `.` and `-`
 * stay, so that `stories.create` and `lease_held` have distinct anchors.
 */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s._-]/gu, '')
    .replaceAll(/\s+/g, '-');
