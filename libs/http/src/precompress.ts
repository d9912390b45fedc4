/** Compresses the files of a built site once, so that serving them costs no time. */
import { glob, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compressors = {
  br: (content: Buffer) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 9,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gz: (content: Buffer) => promisify(gzip)(content, { level: 9 }),
};

/**
 * The minimum size of files that are compressed. A smaller file fits into one packet with or without
 * compression.
 */
const minCompressedBytes = 1_024;

/** Writes `main.js.br` and `main.js.gz` next to `main.js`. A file that compression would not make smaller gets none. */
export async function precompress(folder: string): Promise<void> {
  const files = await Array.fromAsync(glob('**/*.{js,css,html,svg,json,txt,xml}', { cwd: folder }));
  await Promise.all(
    files.map(async (file) => {
      const content = await readFile(path.join(folder, file));
      if (content.length < minCompressedBytes) return;
      for (const [ending, compress] of Object.entries(compressors)) {
        const compressed = await compress(content);
        if (compressed.length < content.length)
          await writeFile(path.join(folder, `${file}.${ending}`), compressed);
      }
    }),
  );
}
