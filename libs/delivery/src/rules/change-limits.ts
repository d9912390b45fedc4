/** Limits for stored changes: the number of files, and the size of their patches. */
import { maxChangedFiles, maxChangesBytes, maxPatchBytes, type ReportedFileChange } from '@muster/contract';
import { countPatchLines } from './unified-diff.ts';

/** A file as it is stored, with the numbers of its lines. */
export interface StoredFileChange extends ReportedFileChange {
  readonly additions: number;
  readonly deletions: number;
}

/** Replaces what Postgres cannot store: NUL and halves of surrogate pairs. */
const cleanText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** Cuts a patch behind its last whole line within the limit. */
function cutPatch(patch: string, maxBytes: number): { patch: string | null; isCut: boolean } {
  if (Buffer.byteLength(patch) <= maxBytes) return { patch, isCut: false };
  const bytes = Buffer.from(patch).subarray(0, maxBytes);
  const end = bytes.lastIndexOf('\n');
  return { patch: end < 0 ? null : bytes.subarray(0, end).toString(), isCut: true };
}

/** Returns the files as they are stored. All patches together stay within a limit; later ones are left out. */
export function limitChanges(files: readonly ReportedFileChange[]): {
  readonly files: StoredFileChange[];
  readonly isCut: boolean;
} {
  let room = maxChangesBytes;
  const stored = files.slice(0, maxChangedFiles).map((file): StoredFileChange => {
    const { path, oldPath, patch: reported } = file;
    const counted = countPatchLines(reported ?? '');
    const { patch, isCut } =
      reported === null
        ? { patch: null, isCut: false }
        : cutPatch(cleanText(reported), Math.min(maxPatchBytes, room));
    room -= patch === null ? 0 : Buffer.byteLength(patch);
    return {
      ...file,
      additions: file.additions ?? counted.additions,
      deletions: file.deletions ?? counted.deletions,
      path: cleanText(path),
      oldPath: oldPath === null ? null : cleanText(oldPath),
      patch,
      truncated: file.truncated || isCut,
    };
  });
  return { files: stored, isCut: files.length > maxChangedFiles };
}
