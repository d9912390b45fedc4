/** Groups the items of a file into calls of imports.put within the limits of the API. */
import { type InputOf, maxImportItems } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type ImportEntry, type FileItem } from './draft.ts';

type PutItem = Exclude<InputOf<typeof boardRegistry.imports.put>['items'][number], { type: string }>;

/** The items of one call of imports.put, and the number of entries read from the file up to the call. */
export interface PutCall {
  readonly items: readonly PutItem[];
  /** The position of each item in the file. */
  readonly places: readonly string[];
  /** The number of entries read so far. */
  readonly read: number;
}

/** The limit of comments per item, and targets for comments and bytes per call that keep calls fast. */
const maxCommentsPerItem = 500;
const targetCommentsPerCall = 2000;
const targetBytesPerCall = 4 * 1024 * 1024;

/**
 * Splits an item that has too many comments for one call. Each part repeats the item with further comments.
 */
function splitByComments({ comments, ...item }: FileItem): PutItem[] {
  const parts = Math.max(1, Math.ceil(comments.length / maxCommentsPerItem));
  return Array.from({ length: parts }, (_, part) => ({
    ...item,
    comments: comments.slice(part * maxCommentsPerItem, (part + 1) * maxCommentsPerItem),
  }));
}

export async function* groupIntoPutCalls(entries: AsyncIterable<ImportEntry>): AsyncGenerator<PutCall> {
  let [items, places, bytes, comments, read]: [PutItem[], string[], number, number, number] = [
    [],
    [],
    0,
    0,
    0,
  ];
  const put = (): PutCall => {
    const made = { items, places, read };
    [items, places, bytes, comments] = [[], [], 0, 0];
    return made;
  };
  for await (const entry of entries) {
    if (entry.kind === 'item') {
      for (const [part, item] of splitByComments(entry.item).entries()) {
        // A UTF-16 unit takes up to three bytes in UTF-8.
        const size = JSON.stringify(item).length * 3;
        const count = item.comments?.length ?? 0;
        const isFull =
          items.length === maxImportItems ||
          bytes + size > targetBytesPerCall ||
          comments + count > targetCommentsPerCall;
        // Each call contains an item at most once, so a further part of an item starts a new call.
        if (items.length > 0 && (isFull || part > 0)) yield put();
        items.push(item);
        places.push(entry.place);
        bytes += size;
        comments += count;
      }
    }
    read += 1;
  }
  if (items.length > 0) yield put();
}
