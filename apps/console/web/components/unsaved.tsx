/** Keeps unsaved text as a draft in this browser. */
import { useMemo, useRef, useState } from 'react';
import { useConsole } from '../data/context.ts';
import { type Draft, createDrafts } from '../data/drafts.ts';
import { timeAgo } from '../messages/index.ts';
import { draftTexts } from '../messages/unsaved.ts';
import { useLeaveConfirmation } from './leaving.ts';

/** Returns the draft as it was when the component was mounted, with functions to change it. */
export function useDraft(draftKey: string) {
  const { session } = useConsole();
  const drafts = useMemo(() => createDrafts(session.draftOwnerId, localStorage), [session.draftOwnerId]);
  const [found] = useState(() => drafts.read(draftKey));
  return {
    found,
    keep: (text: string, base?: Draft['base']) =>
      drafts.store(draftKey, { text, at: Date.now(), ...(base !== undefined && { base }) }),
    clear: () => drafts.store(draftKey, undefined),
  };
}

/** Returns the text that remains in the field after `sent` was saved. */
const unsavedRemainder = (text: string, savedText: string): string =>
  text.startsWith(savedText) ? text.slice(savedText.length).trimStart() : text;

/** State of a new text, such as a comment or note, which is a draft until it is saved or discarded. */
export function useNewTextDraft(draftKey: string) {
  const { found, keep, clear } = useDraft(draftKey);
  const [text, setText] = useState(found?.text ?? '');
  const latest = useRef(text);
  const isDirty = text.trim() !== '';
  const askFirst = useLeaveConfirmation(isDirty);
  const change = (next: string): void => {
    latest.current = next;
    setText(next);
    if (next.trim() === '') clear();
    else keep(next);
  };
  return {
    ...{ text, isDirty, askFirst, change },
    /**
     * Call it after `sent` was saved: removes it from the field and the draft, and keeps what was typed after the save
     * began.
     */
    saved: (sent: string) => change(unsavedRemainder(latest.current, sent)),
    restored: found !== undefined && text === found.text && (
      <DraftRestoredNotice draft={found} onDiscard={() => change('')} />
    ),
  };
}

interface DraftRestoredNoticeProps {
  readonly draft: Draft;
  readonly onDiscard: () => void;
}

/** Shows that a draft was restored. */
export const DraftRestoredNotice = ({ draft, onDiscard }: DraftRestoredNoticeProps) => (
  <p className="draft-note" role="status">
    {draftTexts.restored(timeAgo(new Date(draft.at).toISOString()))}
    <button type="button" className="button" data-kind="quiet" onClick={onDiscard}>
      {draftTexts.discard}
    </button>
  </p>
);
