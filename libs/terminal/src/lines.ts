/** Lines of text that fit a terminal. */
import { homedir } from 'node:os';
import path from 'node:path';
import stringWidth from 'string-width';
import { sanitizeForTerminal } from './plain.ts';

/**
 * Breaks lines at spaces so that they have at most `width` columns. Continuation lines are indented by
 * `indent`. A word longer than `width`, such as a path or an address, is kept whole on its own line, so that
 * it can be copied.
 */
export function wrapLines(lines: readonly string[], width: number | undefined, indent = 2): string[] {
  const clean = lines.flatMap((line) => sanitizeForTerminal(line).split('\n'));
  if (width === undefined) return clean;
  return clean.flatMap((line) => (stringWidth(line) <= width ? [line] : breakLine(line, width, indent)));
}

function breakLine(line: string, width: number, indent: number): string[] {
  const made: string[] = [];
  let current = '';
  // Each match is a word with the spaces before it, so that the gaps between words are kept.
  for (const word of line.match(/\s*\S+/g) ?? []) {
    if (current.trim() === '' || stringWidth(current + word) <= width) current += word;
    else {
      made.push(current);
      current = ' '.repeat(indent) + word.trimStart();
    }
  }
  return [...made, current];
}

/**
 * Returns the shortest path of a folder that a shell accepts: absolute, relative to the working directory, or
 * relative to the home folder.
 */
export function shortestFolderPath(folder: string, workingFolder = process.cwd(), home = homedir()): string {
  const fromHome = path.relative(home, folder);
  return [
    path.relative(workingFolder, folder) || '.',
    ...(fromHome !== '' && !fromHome.startsWith('..') ? [path.join('~', fromHome)] : []),
  ].reduce((shortest, one) => (one.length < shortest.length ? one : shortest), folder);
}
