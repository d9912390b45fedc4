/** Where a format reads from. */

/** The text of a file in pieces of any size. It is read several times: each call begins anew. */
export type Source = () => AsyncIterable<string>;

/** What has to be said before a file can be read: which column is the title, or which comes first in a date. */
export type Lack = 'columns' | 'dates';

/** The file is not what it was said to be, or cannot be read without more being said; the message says why. */
export class NoImport extends Error {
  readonly lack: Lack | undefined;

  constructor(message: string, lack?: Lack) {
    super(message);
    this.lack = lack;
  }
}

/** A file of these bytes: UTF-8, or UTF-16 where a mark at its beginning says so. Throws NoImport where letters would be lost. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const piece of bytes) {
      decoder ??= new TextDecoder(encodingOf(piece), { fatal: true });
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder?.decode() ?? '';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new NoImport('the file is not UTF-8, and letters such as ü would be lost: save it as UTF-8');
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** The whole text. */
export async function textOf(source: Source): Promise<string> {
  const parts: string[] = [];
  for await (const part of source()) parts.push(part);
  return parts.join('').replace(/^\uFEFF/, '');
}

/** The whole text as JSON; throws NoImport. */
export async function jsonOf(source: Source): Promise<unknown> {
  const text = await textOf(source);
  try {
    return JSON.parse(text);
  } catch {
    throw new NoImport('the file is no JSON');
  }
}
