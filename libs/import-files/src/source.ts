/** The file content that the reader of a format receives, and helpers to decode it. */

/** The text of a file in pieces of any size. Each call reads from the start. */
export type TextSource = () => AsyncIterable<string>;

/**
 * The missing information without which a file cannot be read: the column of the title, or the order of day
 * and month.
 */
export type MissingInformation = 'columns' | 'dates';

/** The error of a file that has another format or needs more information. The message has the reason. */
export class UnreadableFileError extends Error {
  readonly lack: MissingInformation | undefined;

  constructor(message: string, lack?: MissingInformation) {
    super(message);
    this.lack = lack;
  }
}

/**
 * Decodes UTF-8, or UTF-16 if the file starts with a byte order mark. Throws UnreadableFileError if characters would be
 * lost.
 */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const piece of bytes) {
      decoder ??= new TextDecoder(detectEncoding(piece), { fatal: true });
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder?.decode() ?? '';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UnreadableFileError(
      'the file is not UTF-8, so letters such as ü would be lost; save it as UTF-8',
    );
  }
}

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Returns the whole text of a source. */
export async function readWholeText(source: TextSource): Promise<string> {
  const parts: string[] = [];
  for await (const part of source()) parts.push(part);
  return parts.join('').replace(/^\uFEFF/, '');
}

/** Parses the whole text as JSON. Throws UnreadableFileError. */
export async function readJson(source: TextSource): Promise<unknown> {
  const text = await readWholeText(source);
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableFileError('the file is not valid JSON');
  }
}
