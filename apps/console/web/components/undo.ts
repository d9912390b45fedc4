/** Lets the reader undo their last changes for a short time, by a notice or by Ctrl-Z. */
import { useEffect } from 'react';
import { isRefusal } from '@muster/client';
import { t } from '../messages/index.ts';
import { eventTargetOf, isTextField } from './keys.ts';
import { errorText, showNotice } from './notices.tsx';

/** The part of a change that could not be undone. */
export interface UndoFailure {
  /** True if the rest of the change was undone. */
  readonly isPartial: boolean;
  readonly reason: string;
}

export interface UndoableChange {
  /** The key of the changed story, or the number of changed stories in words. */
  readonly key: string;
  /** Says what was changed. */
  readonly title: string;
  /** Makes the inverse change. Throws if the API refuses it, or resolves to what could not be undone. */
  readonly undo: () => Promise<UndoFailure | undefined>;
  /** The time in which the change can be undone. */
  readonly periodMs?: number;
}

const defaultUndoPeriodMs = 30_000;
/** The notice disappears earlier than the change stops being undoable, because it covers a part of the page. */
const noticeDurationMs = 10_000;
/** The notices of changes replace each other. */
const noticeSubject = 'undo';
let undoable: readonly { readonly change: UndoableChange; readonly until: number }[] = [];

async function undoChange(change: UndoableChange): Promise<void> {
  undoable = undoable.filter((one) => one.change !== change);
  const { key } = change;
  const fail = (body: string): void =>
    showNotice({ tone: 'bad', title: t.undo.failed(key), body, about: noticeSubject });
  try {
    const failure = await change.undo();
    const title = t.undo.done(key);
    if (failure === undefined) showNotice({ tone: 'good', title, about: noticeSubject });
    else if (failure.isPartial)
      showNotice({ tone: 'warn', title, body: failure.reason, about: noticeSubject });
    else fail(failure.reason);
  } catch (error) {
    fail(isRefusal(error, 'version_mismatch') ? t.undo.conflict : errorText(error));
  }
}

/** Shows what was changed, with a button that undoes it. */
export function offerUndo(change: UndoableChange): void {
  const now = Date.now();
  const until = now + (change.periodMs ?? defaultUndoPeriodMs);
  undoable = [...undoable.filter((one) => one.until > now), { change, until }];
  showNotice({
    ...{ tone: 'good', title: change.title, about: noticeSubject, durationMs: noticeDurationMs },
    actions: [{ name: t.undo.act, run: () => void undoChange(change) }],
  });
}

/** Undoes the last change with Ctrl-Z or ⌘Z. In text fields these keys undo typing. */
export function useUndoKeys(): void {
  useEffect(() => {
    const undoLast = (event: KeyboardEvent): void => {
      const isUndo = event.key.toLowerCase() === 'z' && (event.metaKey || event.ctrlKey);
      if (!isUndo || event.shiftKey || event.altKey || isTextField(eventTargetOf(event))) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const last = undoable.findLast(({ until }) => until > Date.now());
      if (last === undefined) return;
      event.preventDefault();
      void undoChange(last.change);
    };
    document.addEventListener('keydown', undoLast);
    return () => document.removeEventListener('keydown', undoLast);
  }, []);
}
