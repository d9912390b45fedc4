/**
 * Drafts: unsaved text, kept in this browser until it is saved or discarded. A draft belongs to one person,
 * and all drafts of other people are deleted when a session begins.
 */
export interface Draft {
  readonly text: string;
  /** The time of the last change in milliseconds since 1970. */
  readonly at: number;
  /** The saved text that the draft changes; absent for text that is new, such as a comment. */
  readonly base?: { readonly version: number; readonly content: string };
}

export interface Drafts {
  readonly read: (place: string) => Draft | undefined;
  /** Stores a draft; undefined deletes it. */
  readonly keep: (place: string, draft: Draft | undefined) => void;
  readonly deleteOthers: () => void;
}

const prefix = 'muster.draft.';

function parse(stored: string | null): Draft | undefined {
  try {
    const draft = JSON.parse(stored ?? 'null') as Partial<Draft> | null;
    return typeof draft?.text === 'string' && typeof draft.at === 'number' ? (draft as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function draftsOf(person: string, storage: Storage): Drafts {
  const own = `${prefix}${person}.`;
  /** Drafts that do not fit into the storage. They last until the page is closed. */
  const unstored = new Map<string, Draft>();
  return {
    read: (place) => unstored.get(place) ?? parse(storage.getItem(own + place)),
    keep: (place, draft) => {
      unstored.delete(place);
      try {
        if (draft === undefined) storage.removeItem(own + place);
        else storage.setItem(own + place, JSON.stringify(draft));
      } catch {
        if (draft !== undefined) unstored.set(place, draft);
      }
    },
    deleteOthers: () => {
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '');
      for (const key of keys) if (key.startsWith(prefix) && !key.startsWith(own)) storage.removeItem(key);
    },
  };
}
