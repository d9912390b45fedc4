/** The beginning of a text on one line, of at most so many characters; where it goes on, it ends in an ellipsis. */
export function excerpt(text: string, most: number): string {
  // By code points, as the contract counts lengths.
  const characters = Array.from(text.trim().replaceAll(/\s+/g, ' '));
  if (characters.length <= most) return characters.join('');
  const beginning = characters.slice(0, most - 1).join('');
  return `${beginning.trimEnd()}…`;
}
