/** The styles that all pages of the product share. The console and the docs import the same files. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads stylesheets of the folder `look`, and joins them without comments and line breaks. */
export const readStyles = (
  ...names: readonly ('tokens' | 'base' | 'controls' | 'page' | 'prose')[]
): string =>
  names
    .map((name) => readFileSync(path.join(import.meta.dirname, 'look', `${name}.css`), 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\/|\s+/gs, ' ');
