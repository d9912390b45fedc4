/**
 * Returns the beginning of a text on one line, of at most `most` characters. It ends in an ellipsis if the
 * text is longer.
 */
export function excerpt(text: string, maxCharacters: number): string {
  // The length is counted in code points, like all lengths in the contract.
  const characters = Array.from(text.trim().replaceAll(/\s+/g, ' '));
  if (characters.length <= maxCharacters) return characters.join('');
  const beginning = characters.slice(0, maxCharacters - 1).join('');
  return `${beginning.trimEnd()}…`;
}
