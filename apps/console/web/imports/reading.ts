/** Reads a file of the reader's machine in the browser. */
import {
  decodeText,
  type ImportEntry,
  type FileFormat,
  type ConversionOptions,
  type ImportFile,
  openFile,
  type ReadOptions,
} from '@muster/import-files';

/** The maximum time in milliseconds that reading may block the page at a stretch. */
const maxBlockingMs = 12;

async function* readBytes(file: Blob): AsyncGenerator<Uint8Array> {
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

/** Streams the text of a file. */
export const readText = (file: Blob): AsyncGenerator<string> => decodeText(readBytes(file));

/** Yields to the page between entries. */
async function* yieldBetweenEntries(entries: AsyncIterable<ImportEntry>): AsyncGenerator<ImportEntry> {
  let begun = performance.now();
  for await (const entry of entries) {
    if (performance.now() - begun > maxBlockingMs) {
      await new Promise((resolve) => setTimeout(resolve));
      begun = performance.now();
    }
    yield entry;
  }
}

/** Opens a file. Throws UnreadableFileError if it does not have the format. */
export async function openImportFile(
  format: FileFormat,
  file: Blob,
  options: ReadOptions,
): Promise<ImportFile> {
  const opened = await openFile(format, () => readText(file), options);
  return { ...opened, entries: (fitting: ConversionOptions) => yieldBetweenEntries(opened.entries(fitting)) };
}
