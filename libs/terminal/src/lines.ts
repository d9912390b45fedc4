/** Lines of text that fit a terminal. */
import { homedir } from 'node:os';
import path from 'node:path';
import stringWidth from 'string-width';
import { plain } from './plain.ts';

/**
 * Lines no longer than `width` columns, broken at spaces; what goes on is indented by `indent`. A word that is longer,
 * such as a path or an address, stays whole on a line of its own, so that it can be copied.
 */
export function wrapped(lines: readonly string[], width: number | undefined, indent = 2): string[] {
  const clean = lines.flatMap((line) => plain(line).split('\n'));
  if (width === undefined) return clean;
  return clean.flatMap((line) => (stringWidth(line) <= width ? [line] : broken(line, width, indent)));
}

function broken(line: string, width: number, indent: number): string[] {
  const made: string[] = [];
  let current = '';
  // A space goes with the word behind it, so that gaps between words stay as they are.
  for (const word of line.match(/\s*\S+/g) ?? []) {
    if (current.trim() === '' || stringWidth(current + word) <= width) current += word;
    else {
      made.push(current);
      current = ' '.repeat(indent) + word.trimStart();
    }
  }
  return [...made, current];
}

/** A folder in its shortest form that a shell takes here: whole, from where the command runs, or from the home folder. */
export function shortFolder(folder: string, from = process.cwd(), home = homedir()): string {
  const fromHome = path.relative(home, folder);
  return [
    path.relative(from, folder) || '.',
    ...(fromHome !== '' && !fromHome.startsWith('..') ? [path.join('~', fromHome)] : []),
  ].reduce((shortest, one) => (one.length < shortest.length ? one : shortest), folder);
}
