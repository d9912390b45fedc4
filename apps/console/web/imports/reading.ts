/** A file of the reader's machine, read in the window. */
import {
  decoded,
  type Entry,
  type FileFormat,
  type Fitting,
  type ImportFile,
  openFile,
  type ReadOptions,
} from '@muster/import-files';

/** So long one stretch of reading may hold up the page. */
const stretchMillis = 12;

async function* bytesOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** Its text, piece by piece. */
export const textOf = (file: Blob): AsyncGenerator<string> => decoded(bytesOf(file));

/** Gives the page its turn between entries. */
async function* calmly(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  let begun = performance.now();
  for await (const entry of entries) {
    if (performance.now() - begun > stretchMillis) {
      await new Promise((resolve) => setTimeout(resolve));
      begun = performance.now();
    }
    yield entry;
  }
}

/** Throws NoImport where the file is none of the format. */
export async function open(format: FileFormat, file: Blob, options: ReadOptions): Promise<ImportFile> {
  const opened = await openFile(format, () => textOf(file), options);
  return { ...opened, entries: (fitting: Fitting) => calmly(opened.entries(fitting)) };
}
