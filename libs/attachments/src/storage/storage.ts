/** The interface of a storage of files. */
import { type Readable } from 'node:stream';

/** A complete file on this machine, which the storage moves or copies. */
export interface ReceivedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** The positions of the first and the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface FileStorage {
  /** The folder on this machine in which uploads arrive. Its files belong to no attachment yet. */
  readonly incomingFolder: string;
  /** Stores a file under this key. The file is either stored completely or not at all. */
  readonly put: (key: string, file: ReceivedFile) => Promise<void>;
  /** Opens a file, or the given bytes of it. Returns undefined if there is none under this key. */
  readonly open: (key: string, range?: ByteRange) => Promise<Readable | undefined>;
  /** Deletes a file. Does nothing if there is none under this key. */
  readonly remove: (key: string) => Promise<void>;
  /** Throws if the storage is unavailable. */
  readonly check: () => Promise<void>;
}

export const fileKey = (orgId: string, attachmentId: string): string => `${orgId}/${attachmentId}`;
