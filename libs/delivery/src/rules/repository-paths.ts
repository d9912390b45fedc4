/** Paths of repository files in checkpoints. */
import { hasDriveLetter, normalizePath, relativeToRootMessage } from '@muster/contract/globs';
import { badRequest } from '@muster/runtime';

function problemOfFile(path: string): string | undefined {
  if (path === '') return 'must name a file';
  if (/\p{Cc}/u.test(path)) return 'must not have control characters';
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return 'must not have the segments . or ..';
  if (path.startsWith('/') || hasDriveLetter(path)) return relativeToRootMessage;
  return path.includes('\\') ? 'must separate folders with /' : undefined;
}

/**
 * Returns the touched files in their stored form, without duplicates. Throws for paths that no repository can
 * contain.
 */
export function normalizeTouchedFiles(paths: readonly string[]): string[] {
  const files = paths.map((path) => normalizePath(path.normalize('NFC')));
  const issues = files.flatMap((path, index) => {
    const message = problemOfFile(path);
    return message === undefined ? [] : [{ path: `filesTouched[${index}]`, message }];
  });
  if (issues.length > 0)
    throw badRequest('The touched files must be paths relative to the root of the repository.', issues);
  return [...new Set(files)];
}
