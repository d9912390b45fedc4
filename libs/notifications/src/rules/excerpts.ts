/**
 * Answers the beginning of a text on one line, of at most `most` characters. It ends in an ellipsis if the
 * text is longer.
 */
export function excerpt(text: string, most: number): string {
  // The length is counted in code points, like all lengths in the contract.
  const characters = Array.from(text.trim().replaceAll(/\s+/g, ' '));
  if (characters.length <= most) return characters.join('');
  const beginning = characters.slice(0, most - 1).join('');
  return `${beginning.trimEnd()}…`;
}
