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
