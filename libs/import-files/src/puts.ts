/** Items of a file, in calls of imports.put that the API takes. */
import { type InputOf, mostImportItems, type registry } from '@muster/registry';
import { type Entry, type FileItem } from './draft.ts';

type PutItem = InputOf<typeof registry.imports.put>['items'][number];

/** What goes into one call, and how much of the file is there with it. */
export interface Put {
  readonly items: readonly PutItem[];
  /** Where each stands in the file. */
  readonly places: readonly string[];
  /** Entries of the file that were read until here. */
  readonly read: number;
}

/** Comments of one item that one call takes, and comments and bytes of all its items that it does well with. */
const mostComments = 500;
const enoughComments = 2000;
const enoughBytes = 4 * 1024 * 1024;

/** The comments of an item that are one too many for a call come with the item again, in calls of their own. */
function partsOf({ comments, ...item }: FileItem): PutItem[] {
  const parts = Math.max(1, Math.ceil(comments.length / mostComments));
  return Array.from({ length: parts }, (_, part) => ({
    ...item,
    comments: comments.slice(part * mostComments, (part + 1) * mostComments),
  }));
}

export async function* putsOf(entries: AsyncIterable<Entry>): AsyncGenerator<Put> {
  let [items, places, bytes, comments, read]: [PutItem[], string[], number, number, number] = [
    [],
    [],
    0,
    0,
    0,
  ];
  const put = (): Put => {
    const made = { items, places, read };
    [items, places, bytes, comments] = [[], [], 0, 0];
    return made;
  };
  for await (const entry of entries) {
    if (entry.kind === 'item') {
      for (const [part, item] of partsOf(entry.item).entries()) {
        // A letter of JSON takes up to three bytes.
        const size = JSON.stringify(item).length * 3;
        const count = item.comments?.length ?? 0;
        const isFull =
          items.length === mostImportItems || bytes + size > enoughBytes || comments + count > enoughComments;
        // An item stands in a call once.
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
