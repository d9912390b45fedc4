/**
 * Records how `muster setup` changed each file, so that `--remove` restores the file byte for byte if nothing
 * else changed it. The record has only the replaced text, because a settings file may contain secrets.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../mcp/install.ts';
import { profilesFile } from '../session/profiles.ts';

const FileChange = z.object({
  /** The SHA-256 digest of the file after the change. */
  digest: z.string(),
  /** True if the change created the file. */
  isNew: z.boolean(),
  /** The replaced part of the text: the position, the text before, and the length after. */
  start: z.int(),
  before: z.string(),
  length: z.int(),
});
type FileChange = z.infer<typeof FileChange>;

const StoredRecord = z.object({ files: z.record(z.string(), FileChange) });
/** The changes by file. */
export type ChangeRecord = Map<string, FileChange>;

const recordFile = (): string => path.join(path.dirname(profilesFile()), 'setup.json');

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reads the record. A damaged or missing record is empty: files are then restored entry by entry. */
export async function readRecord(): Promise<ChangeRecord> {
  try {
    const { files } = StoredRecord.parse(JSON.parse(await readFile(recordFile(), 'utf8')));
    return new Map(Object.entries(files));
  } catch {
    return new Map();
  }
}

export function writeRecord(record: ChangeRecord): Promise<void> {
  const stored = { files: Object.fromEntries(record) };
  return writeFileAtomically(recordFile(), `${JSON.stringify(stored, null, 2)}\n`, 0o600);
}

/** Describes the change of a file. `before` is undefined if the file did not exist. */
export function describeChange(before: string | undefined, after: string): FileChange {
  const old = before ?? '';
  const shorter = Math.min(old.length, after.length);
  let start = 0;
  while (start < shorter && old[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === after.at(-1 - end)) end += 1;
  return {
    ...{ digest: digestOf(after), isNew: before === undefined },
    ...{ start, before: old.slice(start, old.length - end), length: after.length - end - start },
  };
}

/**
 * Returns the text before the recorded change. Returns undefined if no change is recorded, or if the file
 * changed since then. The text is undefined if the file did not exist.
 */
export function findOriginal(
  record: ReadonlyMap<string, FileChange>,
  file: string,
  text: string,
): { readonly text: string | undefined } | undefined {
  const change = record.get(file);
  if (change?.digest !== digestOf(text)) return undefined;
  if (change.isNew) return { text: undefined };
  const { start, before, length } = change;
  return { text: text.slice(0, start) + before + text.slice(start + length) };
}
