/** Deletes comments after a time in which the reader can undo it, because a deleted comment cannot be restored. */
import { useSyncExternalStore } from 'react';
import { errorText, showNotice } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { commentTexts } from '../messages/story.ts';

interface PendingDeletion {
  readonly send: () => Promise<void>;
  readonly timer: ReturnType<typeof setTimeout>;
}

const undoPeriodMs = 10_000;
/** Comments that are hidden on this page, by id, until the API has deleted them. */
const pendingDeletions = new Map<string, PendingDeletion>();
const listeners = new Set<() => void>();
const subscribe = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};
const notifyListeners = (): void => {
  for (const changed of listeners) changed();
};

export const useIsDeletionPending = (commentId: string): boolean =>
  useSyncExternalStore(subscribe, () => pendingDeletions.has(commentId));

// A deletion is sent when the page is closed, and when it might be restored from the browser's cache later.
globalThis.addEventListener('pagehide', () => {
  for (const { send } of pendingDeletions.values()) void send();
});

interface DeletableComment {
  readonly id: string;
  readonly storyKey: string;
  readonly deleteNow: () => Promise<unknown>;
}

/** Hides the comment, and deletes it when the time to undo this is over. */
export function deleteComment({ id, storyKey, deleteNow }: DeletableComment): void {
  let isSent = false;
  const send = async (): Promise<void> => {
    if (isSent || !pendingDeletions.has(id)) return;
    isSent = true;
    try {
      await deleteNow();
    } catch (error) {
      showNotice({ tone: 'bad', title: commentTexts.notDeleted, body: errorText(error) });
    }
    pendingDeletions.delete(id);
    notifyListeners();
  };
  // One second longer, so that the deletion is never sent while it can still be undone.
  pendingDeletions.set(id, { send, timer: setTimeout(() => void send(), undoPeriodMs + 1_000) });
  notifyListeners();
  offerUndo({
    ...{ key: storyKey, title: commentTexts.deletedNow, periodMs: undoPeriodMs },
    undo: async () => {
      if (isSent) return { isPartial: false, reason: commentTexts.alreadyDeleted };
      clearTimeout(pendingDeletions.get(id)?.timer);
      pendingDeletions.delete(id);
      notifyListeners();
      return undefined;
    },
  });
}
