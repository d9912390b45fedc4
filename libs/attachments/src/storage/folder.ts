/** Stores files in a folder. A file is renamed into its place, so that no reader sees a part of it. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUuid } from '@muster/contract';
import { type FileStorage } from './storage.ts';

const isNotFoundError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if (isNotFoundError(error)) return undefined;
    throw error;
  }
}

/** Writes the contents of a file or folder to the disk, so that it survives a loss of power. */
async function fsyncPath(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export interface FolderStorage extends FileStorage {
  /** Returns the id of the folder. The first service that uses the folder creates it. */
  readonly readFolderId: () => Promise<string>;
}

export function createFolderStorage(folder: string): FolderStorage {
  const incomingFolder = join(folder, '.incoming');
  const idPath = join(folder, '.muster-files');
  const pathOf = (key: string): string => join(folder, key);
  return {
    incomingFolder,
    put: async (key, { path }) => {
      const place = pathOf(key);
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await fsyncPath(path);
      await rename(path, place);
      await fsyncPath(dirname(place));
    },
    open: async (key, range) => {
      const file = await openIfPresent(pathOf(key));
      return file?.createReadStream(range);
    },
    remove: async (key) => {
      await rm(pathOf(key), { force: true });
    },
    check: async () => {
      await mkdir(incomingFolder, { recursive: true, mode: 0o700 });
      const probe = join(incomingFolder, `.probe-${randomUUID()}`);
      await writeFile(probe, '');
      await rm(probe);
    },
    readFolderId: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      try {
        await writeFile(idPath, randomUUID(), { flag: 'wx' });
      } catch {
        // Another service created it, or the folder is read-only.
      }
      const id = await readFile(idPath, 'utf8');
      if (!isUuid(id)) throw new Error(`${idPath} does not contain an id`);
      return id;
    },
  };
}
