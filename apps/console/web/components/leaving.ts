/** Asks for confirmation before unsaved text is left or discarded. */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { askQuestion } from '../data/questions.ts';
import { markUnsaved } from '../data/unsaved.ts';

/**
 * Asks before another page of the console is opened, or the window is closed, while there is unsaved text. Buttons that
 * discard the text, such as Cancel, run through the returned function, which asks as well.
 */
export function useLeaveConfirmation(isDirty: boolean): (discard: () => void) => void {
  const { history } = useRouter();
  useEffect(() => {
    if (!isDirty) return undefined;
    const unmark = markUnsaved();
    const unblock = history.block({
      blockerFn: async ({ currentLocation, nextLocation }) =>
        currentLocation.pathname !== nextLocation.pathname && !(await confirmLeaving()),
      // `markUnsaved` asks before the window is closed.
      enableBeforeUnload: false,
    });
    return () => {
      unblock();
      unmark();
    };
  }, [history, isDirty]);
  return (discard) => {
    if (!isDirty) discard();
    else void askQuestion('discard').then((isYes) => isYes && discard());
  };
}

let pendingLeaveQuestion: Promise<boolean> | undefined;
/**
 * Asks once before the page is left, even if several parts have unsaved text. These parts ask within the same
 * task and share one promise.
 */
const confirmLeaving = (): Promise<boolean> =>
  (pendingLeaveQuestion ??= askQuestion('leave').finally(() =>
    setTimeout(() => (pendingLeaveQuestion = undefined)),
  ));
