/** Text that is kept in this browser, as a draft, until it is saved. */
import { useMemo, useRef, useState } from 'react';
import { useConsole } from '../data/context.ts';
import { type Draft, draftsOf } from '../data/drafts.ts';
import { ago } from '../messages/index.ts';
import { u } from '../messages/unsaved.ts';
import { useAskBeforeLeaving } from './leaving.ts';

/** The draft of a place as it was when the part was first shown, and the way to change it. */
export function useDraft(place: string) {
  const { session } = useConsole();
  const drafts = useMemo(() => draftsOf(session.person, localStorage), [session.person]);
  const [found] = useState(() => drafts.read(place));
  return {
    found,
    keep: (text: string, base?: Draft['base']) =>
      drafts.keep(place, { text, at: Date.now(), ...(base !== undefined && { base }) }),
    clear: () => drafts.keep(place, undefined),
  };
}

/** The text that remains in the field after `sent` was saved: what was typed since. */
const restOf = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;

/** Text that is new, such as a comment or a note: a draft until it is saved or discarded. */
export function useNewText(place: string) {
  const { found, keep, clear } = useDraft(place);
  const [text, setText] = useState(found?.text ?? '');
  const latest = useRef(text);
  const isDirty = text.trim() !== '';
  const askFirst = useAskBeforeLeaving(isDirty);
  const change = (next: string): void => {
    latest.current = next;
    setText(next);
    if (next.trim() === '') clear();
    else keep(next);
  };
  return {
    ...{ text, isDirty, askFirst, change },
    /** After `sent` was saved, only text that was typed since stays. */
    saved: (sent: string) => change(restOf(latest.current, sent)),
    restored: found !== undefined && text === found.text && (
      <Restored draft={found} onDiscard={() => change('')} />
    ),
  };
}

/** Says that a draft was restored. */
export const Restored = ({ draft, onDiscard }: { readonly draft: Draft; readonly onDiscard: () => void }) => (
  <p className="draft-note" role="status">
    {u.restored(ago(new Date(draft.at).toISOString()))}
    <button type="button" className="button" data-kind="quiet" onClick={onDiscard}>
      {u.discard}
    </button>
  </p>
);
