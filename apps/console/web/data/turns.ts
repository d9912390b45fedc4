/**
 * One of the windows of a browser has its turn at a time: it holds a lock of the browser's, which goes on to another when it is
 * closed. Without such locks, as in a page without TLS, each window has its own.
 */

export interface Turns {
  /** Takes the turn from who has it and does not answer. */
  readonly take: () => void;
}

/** Does the work while it is this window's turn; a turn that another takes is aborted. Ends with the signal. */
export function takeTurns(
  name: string,
  stopping: AbortSignal,
  work: (turn: AbortSignal) => Promise<void>,
): Turns {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) {
    void work(stopping);
    return { take: () => undefined };
  }
  let waiting = new AbortController();
  let takes = false;
  const go = async (): Promise<void> => {
    while (!stopping.aborted) {
      waiting = new AbortController();
      const turn = new AbortController();
      const options = takes ? { steal: true } : { signal: AbortSignal.any([stopping, waiting.signal]) };
      takes = false;
      try {
        await locks.request(name, options, () => work(AbortSignal.any([stopping, turn.signal])));
      } catch {
        // It was to wait no longer, or another took the turn.
      }
      turn.abort();
    }
  };
  void go();
  return {
    take: () => {
      takes = true;
      waiting.abort();
    },
  };
}
