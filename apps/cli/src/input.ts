/** Files that a command line names. */
import { access, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { UsageError } from '@muster/terminal';

const unreadableFileError = (file: string) => (error: unknown) => {
  throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
};

/** Reads a text file, or standard input if the file is `-`. */
export const readTextInput = (file: string): Promise<string> =>
  (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch(unreadableFileError(file));

export const requireReadable = (file: string): Promise<void> => access(file).catch(unreadableFileError(file));
