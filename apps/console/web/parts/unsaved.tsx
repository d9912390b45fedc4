/** Text that is kept until it is saved: its draft in this browser, and the question before the page is left. */
import { useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useConsole } from '../data/context.ts';
import { type Draft, draftsOf } from '../data/drafts.ts';
import { ask } from '../data/questions.ts';
import { markUnsaved, restOf } from '../data/unsaved.ts';
import { ago } from '../texts/index.ts';
import { u } from '../texts/unsaved.ts';

/**
 * Asks before another page of the console is opened, or the window is closed, while there is unsaved text. Buttons that
 * discard the text, such as Cancel, run through the returned function, which asks as well.
 */
export function useAskBeforeLeaving(isDirty: boolean): (discard: () => void) => void {
  const { history } = useRouter();
  useEffect(() => {
    if (!isDirty) return undefined;
    const unmark = markUnsaved();
    const unblock = history.block({
      blockerFn: async ({ currentLocation, nextLocation }) =>
        currentLocation.pathname !== nextLocation.pathname && !(await askToLeave()),
      enableBeforeUnload: true,
    });
    return () => {
      unblock();
      unmark();
    };
  }, [history, isDirty]);
  return (discard) => {
    if (!isDirty) discard();
    else void ask('discard').then((isYes) => isYes && discard());
  };
}

let asked: Promise<boolean> | undefined;
/** Several parts with unsaved text ask one question. Their answers come one after the other, in the same task. */
const askToLeave = (): Promise<boolean> =>
  (asked ??= ask('leave').finally(() => setTimeout(() => (asked = undefined))));

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
    /** The text at this moment, for code that waited for an answer. */
    latest: () => latest.current,
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
