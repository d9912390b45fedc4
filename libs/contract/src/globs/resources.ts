/**
 * Validates resources: repository paths with everything below them, globs over repository paths, and names
 * in the form `name:NAME`. Locks are taken on resources, and stories list the ones that their work touches.
 */
import { checkGlob, MalformedGlob } from './glob-syntax.ts';

const namePrefix = 'name:';
const maxNameLength = 200;

export const isNameResource = (text: string): boolean => text.startsWith(namePrefix);

export const relativeToRootMessage = 'must be relative to the root of the repository';

/** Removes a leading `./`, doubled slashes and the trailing slash. */
export const normalizePath = (path: string): string =>
  path
    .replaceAll(/\/{2,}/g, '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<=.)\/$/s, '');

/** Reports whether a path has a drive letter, as `C:/a` and `C:a`. Such paths exist on one machine only. */
export const hasDriveLetter = (path: string): boolean => /^[a-z]:/i.test(path);

/**
 * Returns the resource in its stored form: NFC, and a path without a leading `./`, doubled slashes or a
 * trailing slash. Call it before `problemOfResource`.
 */
export function normalizeResource(text: string): string {
  const composed = text.normalize('NFC');
  return isNameResource(composed) ? composed : normalizePath(composed);
}

/** Returns the problem of a normalized resource, or undefined if it is valid. */
export function problemOfResource(text: string): string | undefined {
  if (isNameResource(text)) return problemOfName(text.slice(namePrefix.length));
  const problem = problemOfCharacters(text);
  if (problem !== undefined) return problem;
  if (hasDriveLetter(text)) return relativeToRootMessage;
  try {
    checkGlob(text);
  } catch (error) {
    if (error instanceof MalformedGlob) return error.message;
    throw error;
  }
  return problemOfBackslashes(text);
}

/**
 * Rejects backslashes that escape nothing. Windows uses them as separators, so `src\**` and `src\-x` are more
 * likely paths than escapes.
 */
function problemOfBackslashes(text: string): string | undefined {
  if (text.replaceAll('\\\\', '').includes('\\**'))
    return 'must not have the wildcard * directly after the escaped star \\*';
  const unescaped = text.replaceAll(/\\[*?[\]{}\\]/g, '');
  const inClasses = unescaped.includes('[') ? unescaped.replaceAll(/\\[!-]/g, '') : unescaped;
  const inBraces = unescaped.includes('{') ? inClasses.replaceAll('\\,', '') : inClasses;
  return inBraces.includes('\\')
    ? 'must separate folders with /; a backslash only escapes a glob character'
    : undefined;
}

function problemOfCharacters(text: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text))
    return 'must not have control characters or invisible format characters';
  return text.trim() === text ? undefined : 'must not start or end with a space';
}

function problemOfName(name: string): string | undefined {
  if (name.trim() === '') return 'must have a name after name:';
  if (Array.from(name).length > maxNameLength)
    return `must have a name of at most ${maxNameLength} characters`;
  return problemOfCharacters(name);
}
