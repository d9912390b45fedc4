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
  readonly store: (place: string, draft: Draft | undefined) => void;
  readonly deleteDraftsOfOthers: () => void;
}

const draftKeyPrefix = 'muster.draft.';

function parseDraft(storedText: string | null): Draft | undefined {
  try {
    const draft = JSON.parse(storedText ?? 'null') as Partial<Draft> | null;
    return typeof draft?.text === 'string' && typeof draft.at === 'number' ? (draft as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function createDrafts(personId: string, storage: Storage): Drafts {
  const own = `${draftKeyPrefix}${personId}.`;
  /** Drafts that do not fit into the storage. They last until the page is closed. */
  const unstored = new Map<string, Draft>();
  return {
    read: (place) => unstored.get(place) ?? parseDraft(storage.getItem(own + place)),
    store: (place, draft) => {
      unstored.delete(place);
      try {
        if (draft === undefined) storage.removeItem(own + place);
        else storage.setItem(own + place, JSON.stringify(draft));
      } catch {
        if (draft !== undefined) unstored.set(place, draft);
      }
    },
    deleteDraftsOfOthers: () => {
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '');
      for (const key of keys)
        if (key.startsWith(draftKeyPrefix) && !key.startsWith(own)) storage.removeItem(key);
    },
  };
}
